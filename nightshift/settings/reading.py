"""The two ways in: a stack file (`nightshift check`) and Pulumi's config (`pulumi up`), read alike."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from nightshift.settings import rules, scope, yamltext
from nightshift.settings.document import NAMESPACE, TOPICS, config_of
from nightshift.settings.errors import SettingsError
from nightshift.settings.models import Stack
from nightshift.settings.problem import Problem

_REGION_KEY = "aws:region"
_ENCRYPTED = (
    "holds an encrypted value (secure:), but nothing here is a secret; write it in plain text, "
    "and name what a job must keep secret in groups.NAME.job.secrets"
)


def read_stack(path: Path, now: datetime | None = None) -> Stack:
    """The stack in `path`, a Pulumi.<stack>.yaml. Raises SettingsError with every problem.

    `now` (UTC, the present if absent) is where the search for shifts that meet begins.
    """
    stack = path.name.removeprefix("Pulumi.").removesuffix(".yaml")
    if path.exists() and not path.is_file():
        raise SettingsError(stack, (f"{path}: given no regular file, expected a stack file of YAML",))
    try:
        config, secret = config_of(yamltext.load(path.read_bytes()))
    except OSError as error:
        raise SettingsError(stack, (f"{path}: {error.strerror}; name a stack file that stands",)) from None
    except yamltext.YamlError as error:
        raise SettingsError(stack, (f"{path.name}: {error}",)) from None
    return from_config(config, stack, secret, now)


def from_config(
    raw: Mapping[str, object], stack: str, secret_keys: Collection[str] = (), now: datetime | None = None
) -> Stack:
    """The stack in Pulumi's config: `raw` by full keys (`nightshift:site`), JSON text or parsed.

    Keys of other namespaces are left alone; `secret_keys` are those that Pulumi decrypted.
    Raises SettingsError with every problem.
    """
    topics = {key.removeprefix(f"{NAMESPACE}:"): value for key, value in raw.items() if _is_ours(key)}
    secret = frozenset(key.removeprefix(f"{NAMESPACE}:") for key in secret_keys)
    given = {"name": stack, "region": raw.get(_REGION_KEY)}
    given |= {key: _parsed(value) for key, value in topics.items() if key not in secret}
    data = {key: value for key, value in given.items() if value is not None}
    hidden = frozenset(key for key in secret if key in TOPICS or key == _REGION_KEY)
    return _validated(data, stack, hidden, now or datetime.now(UTC))


def _is_ours(key: str) -> bool:
    return ":" not in key or key.startswith(f"{NAMESPACE}:")


def _parsed(value: object) -> object:
    """JSON text parsed if it is some and no abyss; lists as tuples, which is what strict models take.

    Empty text is what Pulumi gives for a key without a value.
    """
    if value == "":
        return None
    try:
        return _frozen(json.loads(value) if isinstance(value, str) else value)
    except (ValueError, RecursionError):
        return str(value)


def _frozen(value: object) -> object:
    if isinstance(value, list | tuple):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, dict):
        return {str(key): _frozen(item) for key, item in value.items()}
    return value


def _validated(data: dict[str, object], stack: str, secret: frozenset[str], now: datetime) -> Stack:
    try:
        result = Stack.model_validate(data)
    except ValidationError as error:
        raise _refusal(data, error, stack, secret, now) from None
    found = [*_encrypted(secret), *rules.findings(scope.whole(result, secret), now)]
    if found:
        raise _error(stack, found)
    return result


def _refusal(
    data: dict[str, object], error: ValidationError, stack: str, secret: frozenset[str], now: datetime
) -> SettingsError:
    from nightshift.settings import mending, wording

    hidden = _encrypted(secret)
    topics = {str(problem.path[0]) for problem in hidden}
    found = wording.problems(error, topics)
    across = rules.findings(mending.sound_parts(data, error, topics), now)
    return _error(stack, [*hidden, *found, *across])


def _encrypted(secret: frozenset[str]) -> list[Problem]:
    """One line for each encrypted topic; its content is neither judged nor shown."""
    return [Problem(("region" if key == _REGION_KEY else key,), _ENCRYPTED) for key in sorted(secret)]


def _error(stack: str, found: list[Problem]) -> SettingsError:
    """Wording and the schema are loaded only here: a sound file never pays for them."""
    from nightshift.settings import wording

    return SettingsError(stack, wording.lines(found))

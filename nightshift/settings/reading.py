"""The two ways in: a stack file (`nightshift check`) and Pulumi's config (`pulumi up`), read alike."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

from pydantic import ValidationError

from nightshift.settings import yamltext
from nightshift.settings.document import NAMESPACE, config_of
from nightshift.settings.errors import SettingsError
from nightshift.settings.models import Stack

TOPICS = ("site", "volumes", "snapshots", "groups")
_REGION_KEY = "aws:region"


def read_stack(path: Path) -> Stack:
    """The stack in `path`, a Pulumi.<stack>.yaml. Raises SettingsError with every problem."""
    stack = path.name.removeprefix("Pulumi.").removesuffix(".yaml")
    try:
        config, secret = config_of(yamltext.load(path.read_bytes()))
    except OSError as error:
        raise SettingsError(stack, (f"{path}: {error.strerror}; name a stack file that stands",)) from None
    except yamltext.YamlError as error:
        raise SettingsError(stack, (f"{path.name}: {error}",)) from None
    return from_config(config, stack, secret)


def from_config(raw: Mapping[str, object], stack: str, secret_keys: Collection[str] = ()) -> Stack:
    """The stack in Pulumi's config: `raw` by full keys (`nightshift:site`), JSON text or parsed.

    Keys of other namespaces are left alone; `secret_keys` are those that Pulumi decrypted.
    Raises SettingsError with every problem.
    """
    topics = {key.removeprefix(f"{NAMESPACE}:"): value for key, value in raw.items() if _is_ours(key)}
    secret = frozenset(key.removeprefix(f"{NAMESPACE}:") for key in secret_keys)
    given = {"name": stack, "region": raw.get(_REGION_KEY)}
    given |= {key: _parsed(value) for key, value in topics.items() if key not in secret}
    data = {key: value for key, value in given.items() if value is not None}
    return _validated(data, stack, frozenset(key for key in secret if key in TOPICS or key == _REGION_KEY))


def _is_ours(key: str) -> bool:
    return ":" not in key or key.startswith(f"{NAMESPACE}:")


def _parsed(value: object) -> object:
    """JSON text parsed, anything else as it is; lists as tuples, which is what strict models take."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return value
    return _frozen(value)


def _frozen(value: object) -> object:
    if isinstance(value, list | tuple):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, dict):
        return {str(key): _frozen(item) for key, item in value.items()}
    return value


def _validated(data: dict[str, object], stack: str, secret: frozenset[str]) -> Stack:
    try:
        result = Stack.model_validate(data)
    except ValidationError as error:
        raise _refusal(error, stack, secret) from None
    return result


def _refusal(error: ValidationError, stack: str, secret: frozenset[str]) -> SettingsError:
    """Wording and its schema are loaded only here: a sound file never pays for them."""
    from nightshift.settings import wording

    found = wording.problems(error, secret)
    return SettingsError(stack, wording.lines(found))

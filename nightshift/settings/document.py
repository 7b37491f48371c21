"""From a stack file's YAML to the config map that Pulumi hands to the program."""

from __future__ import annotations

import json
from collections.abc import Mapping

from nightshift.catalog.suggest import closest
from nightshift.settings.yamltext import NULL_KEY, OddKey, YamlError

NAMESPACE = "nightshift"
"""The Pulumi project's name; keys without a namespace belong to it."""
TOPICS = ("site", "volumes", "snapshots", "groups")
_PULUMI_TEXTS = ("secretsprovider", "encryptedkey", "encryptionsalt")


def config_of(document: object) -> tuple[dict[str, object], frozenset[str]]:
    """The config by full keys, and the keys that hold encrypted values. Raises YamlError."""
    top = _mapping(document, "the file", "a mapping with config: at the top")
    odd = next((key for key in top if isinstance(key, OddKey)), None)
    if odd is not None:
        raise YamlError(f"the key {odd} at the top is no word; keys there are config: and what Pulumi wrote")
    if "config" not in top:
        _astray(top)
    for key in _PULUMI_TEXTS:
        if isinstance(top.get(key), dict | list):
            raise YamlError(
                f"{key} belongs to Pulumi and must be text; put back what `pulumi stack init` wrote"
            )
    config = _config(_mapping(top.get("config"), "config", "a mapping such as nightshift:site: {...}"))
    secret = frozenset(key for key, value in config.items() if _encrypted(value))
    given = {key: _as_pulumi_gives(value) for key, value in config.items() if key not in secret}
    return {**given, **dict.fromkeys(secret, "")}, secret


def _astray(top: Mapping[str, object]) -> None:
    """Pulumi passes over unknown keys, so a slip here would read as a file that says nothing."""
    for key in top:
        if key in _PULUMI_TEXTS:
            continue
        if closest(key, ("config",)):
            raise YamlError(f'the key "{key}" at the top is read by nobody, did you mean "config"?')
        if ":" in key or key in TOPICS:
            raise YamlError(f'the key "{key}" stands at the top; write config: above it and indent it')


def _config(given: Mapping[str, object]) -> dict[str, object]:
    """Once one key is no text, Pulumi adds no namespace to any; a null key it drops."""
    bare = not any(isinstance(key, OddKey) for key in given)
    config: dict[str, object] = {}
    for key, value in given.items():
        if isinstance(key, OddKey) and key == NULL_KEY:
            continue
        name = full_key(key) if bare or ":" in key else ""
        if not name:
            raise YamlError(f'"{key}" under config: is no config key; write namespace:name')
        if name in config:
            raise YamlError(
                f"{name} stands twice under config:, with and without a namespace; keep one of them"
            )
        config[name] = value
    return config


def full_key(key: str) -> str:
    """`site` and `nightshift:config:site` are `nightshift:site` to Pulumi. Raises YamlError."""
    parts = key.split(":")
    if len(parts) == 1:
        return f"{NAMESPACE}:{key}"
    if len(parts) == 3 and parts[1] == "config":
        return f"{parts[0]}:{parts[2]}"
    if len(parts) != 2:
        raise YamlError(f'"{key}" is no config key; write namespace:name')
    return key


def _mapping(value: object, where: str, expected: str) -> Mapping[str, object]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise YamlError(f"{where} must be {expected}")
    return value


def _encrypted(value: object) -> bool:
    if isinstance(value, dict):
        if len(value) == 1 and isinstance(value.get("secure"), str):
            return True
        return any(_encrypted(item) for item in value.values())
    return isinstance(value, list) and any(_encrypted(item) for item in value)


def _as_pulumi_gives(value: object) -> object:
    """Top-level numbers and switches reach the program as text."""
    return json.dumps(value) if isinstance(value, bool | int | float) else value

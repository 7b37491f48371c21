"""What stands in the whole account, comparable between two clouds: ids, times and addresses taken out."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from tests.engine.support.looking import everything
from tests.engine.support.site import Deployed

Sight = Counter[tuple[str, str]]
"""How often each (kind, comparable JSON) stands."""

_RANDOM = (
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"\b([a-z]+(?:-[a-z]+)*)-[0-9a-f]{8,40}\b"), r"\1-*"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?"), "TIME"),
    (re.compile(r"\b(AROA|AIPA)[A-Z0-9]{8,}\b"), r"\1*"),
    (re.compile(r"\b(\d{1,3}[.-]){3}\d{1,3}(:\d+)?\b(?!/)"), "ADDRESS"),
    (re.compile(r"\b([0-9a-f]{2}:){5}[0-9a-f]{2}\b"), "MAC"),
)
_RANDOM_KEYS = frozenset({"UserData", "creationTime", "InstanceProfileId"})
"""User data holds the emulated cloud's port."""


def sight(site: Deployed) -> Sight:
    """Everything of the account as it stands."""
    return Counter(
        (kind, json.dumps(_plain(json.loads(text)), sort_keys=True))
        for kind, texts in everything(site).items()
        for text in texts
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: "*" if key in _RANDOM_KEYS else _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        inner = [_plain(each) for each in value]
        ordered = any(isinstance(each, dict) and "InstanceType" in each for each in inner)
        return inner if ordered else sorted(inner, key=lambda each: json.dumps(each, sort_keys=True))
    if isinstance(value, str):
        for pattern, instead in _RANDOM:
            value = pattern.sub(instead, value)
    return value


def counts(seen: Sight) -> dict[str, int]:
    """How many of each kind."""
    found: Counter[str] = Counter()
    for (kind, _), number in seen.items():
        found[kind] += number
    return dict(found)


def differences(found: Sight, wanted: Sight) -> list[str]:
    """One line for each kind whose number is wrong, and for each thing that has no equal."""
    have, want = counts(found), counts(wanted)
    lines = [
        f"{kind}: {have.get(kind, 0)} instead of {want.get(kind, 0)}"
        for kind in sorted(have.keys() | want.keys())
        if have.get(kind, 0) != want.get(kind, 0)
    ]
    lines += [
        f"too many {kind} ({number}): {text}" for (kind, text), number in sorted((found - wanted).items())
    ]
    return lines + [
        f"missing {kind} ({number}): {text}" for (kind, text), number in sorted((wanted - found).items())
    ]

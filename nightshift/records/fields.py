"""Typed reading of JSON objects: each refusal says the field, what was given and what is expected."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import datetime, timezone

from nightshift.records.errors import Unreadable

VERSION = 1
UTC = timezone.utc
STAMP = "%Y-%m-%dT%H:%M:%SZ"


def stamp(at: datetime) -> str:
    """An aware instant as `2026-12-07T11:00:00Z`."""
    return at.astimezone(UTC).strftime(STAMP)


def load(where: str, body: bytes) -> Mapping[str, object]:
    """The JSON object of version 1 in `body`; raises Unreadable."""
    try:
        raw = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Unreadable(where, "is no JSON") from error
    if not isinstance(raw, dict):
        raise Unreadable(where, "is no JSON object")
    if raw.get("version") != VERSION or isinstance(raw.get("version"), bool):
        raise Unreadable(where, f"has version {raw.get('version')!r}")
    return raw


def text(where: str, raw: Mapping[str, object], name: str) -> str:
    """A string field that must be there."""
    value = raw.get(name)
    if not isinstance(value, str):
        raise Unreadable(where, f"field {name} is {value!r}, no text")
    return value


def number(where: str, raw: Mapping[str, object], name: str) -> int:
    """A whole number that must be there, 0 or more."""
    value = raw.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Unreadable(where, f"field {name} is {value!r}, no whole number")
    return value


def amount(where: str, raw: Mapping[str, object], name: str) -> float:
    """A finite number that must be there, 0 or more."""
    value = raw.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise Unreadable(where, f"field {name} is {value!r}, no number of 0 or more")
    return float(value)


def objects(where: str, raw: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    """A list of objects that must be there; it may be empty."""
    value = raw.get(name)
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise Unreadable(where, f"field {name} is no list of objects")
    return value


def truth(where: str, raw: Mapping[str, object], name: str) -> bool:
    """A true or false that must be there."""
    value = raw.get(name)
    if not isinstance(value, bool):
        raise Unreadable(where, f"field {name} is {value!r}, neither true nor false")
    return value


def instant(where: str, raw: Mapping[str, object], name: str) -> datetime:
    """An instant written as `2026-12-07T11:00:00Z`."""
    value = text(where, raw, name)
    try:
        return datetime.strptime(value, STAMP).replace(tzinfo=UTC)
    except ValueError as error:
        raise Unreadable(
            where, f"field {name} is {value!r}, no instant such as 2026-12-07T11:00:00Z"
        ) from error

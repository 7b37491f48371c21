"""What a plain YAML scalar means to Pulumi.

Pulumi reads stack files with Go's yaml.v3 (`resolve.go`, version 3.0.1, as pinned by Pulumi 3.274), which
follows neither YAML 1.1 nor 1.2 in full: `on` and `07:00` are text, `0777` is octal, `1_000` a number,
`2026-12-24` a date.
"""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal

_WORDS: dict[str, bool | float | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_INTEGER = re.compile(
    r"(?P<sign>[-+]?)(?:(?P<hex>0[xX][0-9a-fA-F]+)|(?P<oct>0[oO]?[0-7]+)|(?P<bin>0[bB][01]+)|(?P<dec>0|[1-9][0-9]*))"
)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DOT_FLOAT = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_TIME = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2})"
    r"(?:(?P<gap>[Tt]| +)(?P<clock>[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2})(?:[.,](?P<part>[0-9]+))?"
    r"(?P<zone>Z|[-+][0-9]{2}:[0-9]{2})?)?"
)
_BASES = {"hex": 16, "oct": 8, "bin": 2, "dec": 10}
_MOST_DIGITS = 64
"""Of a number of 64 bits, in binary."""
_JSON_EXPONENT_FROM = 1e21
"""From here on Go's JSON writes a float with an exponent, so that it stays a float."""


def plain(text: str) -> object:
    """The value of a plain scalar as the program gets it from Pulumi: text, int, float, bool or None."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] == ".":
        return as_number(text.replace("_", "")) if _DOT_FLOAT.fullmatch(text) else text
    if text[0] not in "+-0123456789":
        return text
    stamp = timestamp(text)
    if stamp is not None:
        return stamp
    number = as_number(text.replace("_", ""))
    return text if number is None else number


def as_number(text: str) -> int | float | None:
    """`text` as a number, or None. Whole floats come out as int, as they do from the JSON on their way."""
    whole = integer(text)
    if whole is not None:
        return whole
    if not _FLOAT.fullmatch(text):
        return None
    value = float(text)
    if value in (float("inf"), float("-inf")):
        return None
    whole_in_json = value.is_integer() and abs(value) < _JSON_EXPONENT_FROM
    return int(Decimal(repr(value))) if whole_in_json else value


def integer(text: str) -> int | None:
    """`text` as Go's ParseInt or ParseUint of 64 bits reads it, or None."""
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    kind = match.lastgroup or "dec"
    digits = match[kind]
    bare = digits[2:] if digits[1:2] in ("x", "X", "o", "O", "b", "B") else digits
    bare = bare.lstrip("0") or "0"
    if len(bare) > _MOST_DIGITS:
        return None
    value = int(bare, _BASES[kind]) * (-1 if match["sign"] == "-" else 1)
    ceiling = 2**63 if match["sign"] else 2**64
    return value if -(2**63) <= value < ceiling else None


def timestamp(text: str) -> str | None:
    """What Go prints for a YAML date or time, such as `2026-12-24 00:00:00 +0000 UTC`; None if it is none."""
    match = _TIME.fullmatch(text)
    if match is None or (match["gap"] in ("T", "t")) != bool(match["zone"]):
        return None
    year, month, day = (int(part) for part in match["date"].split("-"))
    hour, minute, second = (int(part) for part in (match["clock"] or "0:0:0").split(":"))
    offset = _offset(match["zone"] or "Z")
    try:
        moment = datetime(year or 4, month, day, hour, minute, second)
    except ValueError:
        return None
    part = (match["part"] or "")[:9].rstrip("0")
    tail = f"{year:04d}-{moment:%m-%d %H:%M:%S}{'.' if part else ''}{part}"
    return f"{tail} {offset} {'UTC' if offset == '+0000' else offset}" if offset else None


def _offset(zone: str) -> str | None:
    """`+05:30` as Go prints it; its bounds are 24 hours and 60 minutes."""
    if zone == "Z":
        return "+0000"
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 24 or minutes > 60:
        return None
    total = hours * 60 + minutes
    return f"{zone[0] if total else '+'}{total // 60:02d}{total % 60:02d}"

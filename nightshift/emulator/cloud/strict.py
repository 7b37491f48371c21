"""The constraints of the service's own model, which AWS checks and boto3 and moto mostly don't. Pure.

Required members, lengths, ranges, patterns and enumerations come from botocore's models, never from here."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, cast

import regex

PATTERN_SECONDS = 0.5
MESSAGE_LIMIT = 10
# Kinds of violation, and the error code of each service; "" stands for any other service.
CODES: Mapping[str, tuple[str, str]] = {
    "ec2": ("MissingParameter", "InvalidParameterValue"),
    "autoscaling": ("ValidationError", "ValidationError"),
    "iam": ("ValidationError", "ValidationError"),
    "sts": ("ValidationError", "ValidationError"),
    "cloudwatch": ("MissingParameter", "InvalidParameterValue"),
    "sns": ("InvalidParameter", "InvalidParameter"),
    "dlm": ("InvalidRequestException", "InvalidRequestException"),
    "budgets": ("InvalidParameterException", "InvalidParameterException"),
    "logs": ("InvalidParameterException", "InvalidParameterException"),
    "service-quotas": ("IllegalArgumentException", "IllegalArgumentException"),
    "s3": ("InvalidRequest", "InvalidRequest"),
    "": ("ValidationException", "ValidationException"),
}


class Shape(Protocol):
    """As much of botocore's shapes as is read here."""

    type_name: str
    metadata: dict[str, Any]


class Violation:
    """One constraint not kept. `text` is worded as AWS words it; `missing` marks an absent required
    member."""

    def __init__(self, path: str, text: str, *, missing: bool = False) -> None:
        self.path = path
        self.text = text
        self.missing = missing


@functools.cache
def compiled(pattern: str) -> Any | None:
    """A model's pattern for full matches; None for the few that no regular expression engine of ours
    reads."""
    astral = pattern.replace(r"\uD800\uDC00-\uDBFF\uDFFF", r"\U00010000-\U0010FFFF")
    try:
        return regex.compile(astral, regex.V0)
    except regex.error:
        return None


def _value(given: object) -> str:
    text = str(given)
    return text if len(text) <= 200 else text[:200] + "..."


def _failed(path: str, given: object, constraint: str) -> Violation:
    return Violation(path, f"Value '{_value(given)}' at '{path}' failed to satisfy constraint: {constraint}")


def _bounds(
    path: str, given: object, size: float, what: str, traits: Mapping[str, Any]
) -> Iterator[Violation]:
    low, high = traits.get("min"), traits.get("max")
    if low is not None and size < low:
        yield _failed(path, given, f"Member must have {what} greater than or equal to {low}")
    if high is not None and size > high:
        yield _failed(path, given, f"Member must have {what} less than or equal to {high}")


def _string(shape: Shape, given: object, path: str) -> Iterator[Violation]:
    if not isinstance(given, str):
        return
    traits = shape.metadata
    yield from _bounds(path, given, len(given), "length", traits)
    enum = traits.get("enum")
    if enum and given not in enum:
        yield _failed(path, given, f"Member must satisfy enum value set: [{', '.join(sorted(enum)[:40])}]")
    pattern = compiled(traits["pattern"]) if "pattern" in traits else None
    if pattern is not None and not _fits(pattern, given):
        yield _failed(path, given, f"Member must satisfy regular expression pattern: {traits['pattern']}")


def _fits(pattern: Any, given: str) -> bool:
    try:
        return pattern.fullmatch(given, timeout=PATTERN_SECONDS) is not None
    except TimeoutError:
        return True


def _number(shape: Shape, given: object, path: str) -> Iterator[Violation]:
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        what = "value"
        yield from _bounds(path, given, given, what, shape.metadata)


def _list(shape: Shape, given: object, path: str) -> Iterator[Violation]:
    if not isinstance(given, list):
        return
    yield from _bounds(path, given, len(given), "length", shape.metadata)
    member = cast(Any, shape).member
    for index, item in enumerate(given, 1):
        yield from violations(member, item, f"{path}.{index}.member")


def _map(shape: Shape, given: object, path: str) -> Iterator[Violation]:
    if not isinstance(given, Mapping):
        return
    yield from _bounds(path, given, len(given), "length", shape.metadata)
    for key, item in given.items():
        yield from violations(cast(Any, shape).key, key, f"{path}.key")
        yield from violations(cast(Any, shape).value, item, f"{path}.{key}")


def _structure(shape: Shape, given: object, path: str) -> Iterator[Violation]:
    if not isinstance(given, Mapping):
        return
    structure = cast(Any, shape)
    body = structure.serialization.get("payload")
    for name in structure.required_members:
        if given.get(name) is None and name != body:
            where = _join(path, name)
            text = f"Value null at '{where}' failed to satisfy constraint: Member must not be null"
            yield Violation(where, text, missing=True)
    for name, member in structure.members.items():
        absent = given.get(name) == [] and member.serialization.get("location") == "querystring"
        if given.get(name) is not None and not absent:
            yield from violations(member, given[name], _join(path, name))


def _join(path: str, name: str) -> str:
    first = name[:1].lower() + name[1:]
    return f"{path}.{first}" if path else first


_CHECKS = {
    "string": _string,
    "integer": _number,
    "long": _number,
    "float": _number,
    "double": _number,
    "list": _list,
    "map": _map,
    "structure": _structure,
}


def violations(shape: Shape, given: object, path: str = "") -> Iterator[Violation]:
    """All constraints of a shape that a parsed value does not keep."""
    check = _CHECKS.get(shape.type_name)
    if check is not None:
        yield from check(shape, given, path)


def verdict(service: str, shape: Any, params: Mapping[str, Any]) -> tuple[str, str] | None:
    """AWS's error code and message for a request that breaks its model, or None."""
    found = list(violations(shape, params)) if shape is not None else []
    if not found:
        return None
    missing, wrong = CODES.get(service, CODES[""])
    if service == "ec2" and found[0].missing:
        return missing, f"The request must contain the parameter {found[0].path}"
    noun = "validation error" if len(found) == 1 else "validation errors"
    text = "; ".join(one.text for one in found[:MESSAGE_LIMIT])
    code = missing if all(one.missing for one in found) else wrong
    return code, f"{len(found)} {noun} detected: {text}"

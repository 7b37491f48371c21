"""Reads plain JSON values into frozen dataclasses: no unknown key, no other type, all problems at once.

It knows what such dataclasses use (str, int, bool, Literal, X | None, tuple[X, ...], dataclasses), no more.
"""

from __future__ import annotations

import dataclasses
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Problems = list[str]
"""One line each, `path: given ..., expected ...`; filled by `decode`."""

_NAMES = {str: "text", int: "a whole number", bool: "true or false"}


def decode(kind: Any, raw: object, path: str, problems: Problems) -> object:
    """`raw` as a value of `kind`; None, with a line in `problems`, where it isn't one."""
    if dataclasses.is_dataclass(kind):
        return _record(kind, raw, path, problems)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _checked(raw, path, problems, raw in arguments and type(raw) is str, _one_of(arguments))
    if origin is tuple:
        return _many(arguments[0], raw, path, problems)
    if origin in (Union, UnionType):
        inner = next(each for each in arguments if each is not type(None))
        return None if raw is None else decode(inner, raw, path, problems)
    return _checked(raw, path, problems, type(raw) is kind, _NAMES[kind])


def _record(kind: Any, raw: object, path: str, problems: Problems) -> object:
    if not isinstance(raw, dict):
        return _checked(raw, path, problems, False, "an object")
    hints, before = get_type_hints(kind), len(problems)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    values: dict[str, Any] = {}
    for name in sorted(raw.keys() - fields.keys()):
        problems.append(f"{_join(path, name if name.isprintable() else repr(name))}: unknown key")
    for name, field in fields.items():
        if name in raw:
            values[name] = decode(hints[name], raw[name], _join(path, name), problems)
        elif field.default is dataclasses.MISSING:
            problems.append(f"{_join(path, name)}: missing")
    return kind(**values) if len(problems) == before else None


def _many(kind: Any, raw: object, path: str, problems: Problems) -> object:
    if not isinstance(raw, list):
        return _checked(raw, path, problems, False, "a list")
    return tuple(decode(kind, each, f"{path}[{index}]", problems) for index, each in enumerate(raw))


def _checked(raw: object, path: str, problems: Problems, fine: bool, expected: str) -> object:
    if fine:
        return raw
    problems.append(f"{path or 'manifest'}: given {raw!r:.60}, expected {expected}")
    return None


def _one_of(values: tuple[object, ...]) -> str:
    return "one of " + ", ".join(str(value) for value in values)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name

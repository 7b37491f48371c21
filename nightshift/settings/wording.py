"""Pydantic's errors as lines for a person: where, what was given, what is allowed, what to do."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from nightshift.catalog.suggest import closest
from nightshift.settings import expectations
from nightshift.settings.problem import Problem, Step, shown

_SWITCHES = ("yes", "no", "on", "off", "y", "n", "true", "false")
_COUNTED = {
    "too_short": "items",
    "too_long": "items",
    "string_too_short": "characters",
    "string_too_long": "characters",
}


def problems(error: ValidationError, hidden: Collection[Step]) -> list[Problem]:
    """Every error in words, but for topics that are `hidden`."""
    details = [detail for detail in error.errors(include_url=False) if not _miscounted(detail)]
    return [_problem(detail) for detail in details if detail["loc"][0] not in hidden]


def lines(found: Iterable[Problem]) -> tuple[str, ...]:
    """Each problem once, in the order of the schema; the file's order is lost to `up`, Pulumi sorts keys."""
    ordered = sorted(set(found), key=lambda problem: (expectations.position(problem.path), problem.says))
    return tuple(problem.line() for problem in ordered)


def _miscounted(detail: ErrorDetails) -> bool:
    """Pydantic counts only sound items, so one bad item of a list makes the list too short as well."""
    return detail["type"] == "too_short" and _size(detail) >= detail.get("ctx", {}).get("min_length", 0)


def _problem(detail: ErrorDetails) -> Problem:
    path = tuple(step for step in detail["loc"] if not str(step).startswith("\0"))
    kind, given = detail["type"], detail.get("input")
    if path and path[-1] == "[key]":
        wanted = expectations.expected_key(path[:-2])
        return Problem(path[:-1], f"given the name {shown(path[-2])}, expected {wanted}")
    if kind == "missing":
        return Problem(path, f"missing, expected {expectations.expected_at(path)}; add it")
    if kind == "extra_forbidden":
        return _extra(path)
    wanted = expectations.expected_at(path)
    if kind in _COUNTED:
        return Problem(path, f"given {_size(detail)} {_COUNTED[kind]}, expected {wanted}")
    return Problem(path, f"given {_safe(path, given)}, expected {wanted}{_remedy(path, given, wanted)}")


def _extra(path: tuple[Step, ...]) -> Problem:
    """A key too many: unknown, or one of another form of its mapping."""
    key, allowed = str(path[-1]), expectations.keys_at(path[:-1])
    if key not in allowed:
        return Problem(path, unknown_key(key, allowed))
    return Problem(
        path, f"belongs to another form, expected {expectations.expected_at(path[:-1])}; take it out"
    )


def unknown_key(key: str, allowed: Sequence[str]) -> str:
    """What to say of a key that nothing reads."""
    close = closest(key.replace("-", "_"), allowed)
    if close:
        return f'unknown key, did you mean "{close}"?'
    return f"unknown key, allowed are {', '.join(allowed)}; take it out"


def _size(detail: ErrorDetails) -> int:
    value = detail["input"]
    return len(value) if isinstance(value, str | Mapping | list | tuple) else 0


def _safe(path: tuple[Step, ...], given: object) -> str:
    """Secrets end up in the wrong place: texts under `secrets` and of URLs with a login are not repeated."""
    if isinstance(given, str) and ("secrets" in path or ("://" in given and "@" in given)):
        return f"a text of {len(given)} characters"
    return shown(given)


def _remedy(path: tuple[Step, ...], given: object, wanted: str) -> str:
    if isinstance(given, bool | int | float):
        return _of_number(path, given, wanted)
    if not isinstance(given, str):
        return ""
    if wanted == "true or false" and given.lower() in _SWITCHES:
        return "; write true or false without quotes"
    if wanted.startswith("a whole number") and given.strip().lstrip("+-").isdigit():
        return "; write it without quotes"
    if wanted.startswith("a list"):
        return "; write a list, [one, two]"
    if clock := _clock(given, wanted):
        return f'; write "{clock}"'
    meant = _meant(given, expectations.words_at(path))
    return f'; did you mean "{meant}"?' if meant else ""


def _of_number(path: tuple[Step, ...], given: bool | float, wanted: str) -> str:
    """Quotes are named only where they mend it."""
    text = shown(given)
    if wanted.startswith("minutes or hours") and text.isdigit():
        return f"; write {text}m for minutes"
    if clock := _clock(f"{text}:00", wanted):
        return f'; write "{clock}"'
    return "; put it in quotes" if expectations.accepts(path, text.replace("+", "")) else ""


def _clock(text: str, wanted: str) -> str | None:
    """`9:00` as the time that was meant; midnight is no 24:00 here."""
    hit = re.fullmatch(r"([01]?[0-9]|2[0-4]):([0-5][0-9])(?::00)?", text.strip())
    if not hit or not wanted.startswith("HH:MM") or (hit[1] == "24" and hit[2] != "00"):
        return None
    return f"{int(hit[1]) % 24:02}:{hit[2]}"


def _meant(given: str, words: Sequence[str]) -> str | None:
    """The word that `given` begins with or resembles."""
    begun = (word for word in words if len(word) > 2 and given.lower().startswith(word))
    return next(begun, None) or closest(given, words)

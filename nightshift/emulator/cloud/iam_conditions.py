"""IAM condition operators, pure. Rules: IAM User Guide, "IAM JSON policy elements: Condition operators" and
"Creating a condition with multiple keys or values", read 2026-11."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

Context = Mapping[str, Sequence[str]]
Test = Callable[[str, str, Context], bool]

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_LITERALS = {"*": "*", "?": "?", "$": "$"}


class UnknownOperatorError(ValueError):
    """A condition operator that IAM does not have, or that is not known here: fail closed."""


def lookup(context: Context, key: str) -> Sequence[str] | None:
    """Values of a key, whose name is case-insensitive; None when the request does not carry it."""
    found = context.get(key)
    if found is not None:
        return found
    lower = key.lower()
    return next((values for name, values in context.items() if name.lower() == lower), None)


def _variable(name: str, context: Context) -> str | None:
    if name in _LITERALS:
        return _LITERALS[name]
    key, _, default = name.partition(",")
    values = lookup(context, key.strip())
    if values is not None and len(values) == 1:
        return values[0]
    return default.strip().strip("'") if default else None


def expand(text: str, context: Context) -> str | None:
    """Put policy variables in; None when one is not in the request, which then matches nothing."""
    parts: list[str] = []
    end = 0
    for match in _VARIABLE.finditer(text):
        value = _variable(match[1], context)
        if value is None:
            return None
        parts += [text[end : match.start()], value]
        end = match.end()
    return "".join([*parts, text[end:]])


def glob(pattern: str, text: str, context: Context, *, ignore_case: bool = False) -> bool:
    """Match `*` and `?` of the policy's own text; what a variable brings in is literal."""
    regex: list[str] = []
    end = 0
    for match in _VARIABLE.finditer(pattern):
        value = _variable(match[1], context)
        if value is None:
            return False
        regex += [_wild(pattern[end : match.start()]), re.escape(value)]
        end = match.end()
    regex.append(_wild(pattern[end:]))
    return re.fullmatch("".join(regex), text, re.DOTALL | (re.IGNORECASE if ignore_case else 0)) is not None


def _wild(text: str) -> str:
    return re.escape(text).replace(r"\*", ".*").replace(r"\?", ".")


def arn_like(pattern: str, text: str, context: Context) -> bool:
    """The six parts of an ARN, each matched on its own; the last keeps its colons."""
    wanted, given = pattern.split(":", 5), text.split(":", 5)
    if len(wanted) != 6 or len(given) != 6:
        return pattern == "*"
    return all(glob(w, g, context) for w, g in zip(wanted, given, strict=True))


def _equals(wanted: str, given: str, context: Context) -> bool:
    return expand(wanted, context) == given


def _equals_ignore_case(wanted: str, given: str, context: Context) -> bool:
    expanded = expand(wanted, context)
    return expanded is not None and expanded.lower() == given.lower()


def _bool(wanted: str, given: str, _context: Context) -> bool:
    return str(wanted).lower() == given.lower()


def _ip(wanted: str, given: str, _context: Context) -> bool:
    try:
        return ipaddress.ip_address(given) in ipaddress.ip_network(wanted, strict=False)
    except ValueError:
        return False


def _date(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _ordered(parse: Callable[[str], float], compare: Callable[[float, float], bool]) -> Test:
    def test(wanted: str, given: str, _context: Context) -> bool:
        try:
            return compare(parse(given), parse(wanted))
        except ValueError:
            return False

    return test


_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "Equals": lambda a, b: a == b,
    "LessThan": lambda a, b: a < b,
    "LessThanEquals": lambda a, b: a <= b,
    "GreaterThan": lambda a, b: a > b,
    "GreaterThanEquals": lambda a, b: a >= b,
}
_TESTS: dict[str, Test] = {
    "StringEquals": _equals,
    "StringEqualsIgnoreCase": _equals_ignore_case,
    "StringLike": glob,
    "ArnEquals": arn_like,
    "ArnLike": arn_like,
    "Bool": _bool,
    "BinaryEquals": _equals,
    "IpAddress": _ip,
    **{f"Numeric{name}": _ordered(float, order) for name, order in _ORDERS.items()},
    **{f"Date{name}": _ordered(_date, order) for name, order in _ORDERS.items()},
}
_NEGATED = {
    "StringNotEquals": "StringEquals",
    "StringNotEqualsIgnoreCase": "StringEqualsIgnoreCase",
    "StringNotLike": "StringLike",
    "ArnNotEquals": "ArnEquals",
    "ArnNotLike": "ArnLike",
    "NotIpAddress": "IpAddress",
    "NumericNotEquals": "NumericEquals",
    "DateNotEquals": "DateEquals",
}


def texts(value: object) -> list[str]:
    """A policy's scalar or list as text; JSON booleans and numbers as IAM writes them."""
    rows = value if isinstance(value, list) else [value]
    return [str(row).lower() if isinstance(row, bool) else str(row) for row in rows]


def holds(operator: str, key: str, wanted: object, context: Context) -> bool:
    """Whether one key of one operator is met. Raises UnknownOperatorError for an operator that is not
    known."""
    values, allowed = lookup(context, key), texts(wanted)
    if operator == "Null":
        return any((text.lower() == "true") == (values is None) for text in allowed)
    quantifier, _, rest = operator.rpartition(":")
    base = rest.removesuffix("IfExists")
    negated = base in _NEGATED
    test = _TESTS.get(_NEGATED.get(base, base))
    if test is None:
        raise UnknownOperatorError(f"condition operator {operator!r}")
    if quantifier not in {"", "ForAllValues", "ForAnyValue"}:
        raise UnknownOperatorError(f"condition operator {operator!r}")

    def met(value: str, test: Test = test) -> bool:
        return any(test(text, value, context) for text in allowed) != negated

    if not values:
        return rest.endswith("IfExists") or quantifier == "ForAllValues" or (negated and not quantifier)
    if quantifier == "ForAllValues" or (negated and not quantifier):
        return all(met(value) for value in values)
    return any(met(value) for value in values)

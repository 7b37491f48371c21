"""What alarms use of CloudWatch's metric math: + - * /, comparisons, IF, MAX, MIN of numbers."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache

Values = Mapping[str, float]
Formula = Callable[[Values], float]
_BINARY: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda one, two: one / two if two else 0.0,
}
_COMPARED: Mapping[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_CALLED: Mapping[str, Callable[..., float]] = {
    "IF": lambda test, yes, no=0.0: yes if test else no,
    "MAX": max,
    "MIN": min,
}


@lru_cache(maxsize=256)
def formula(text: str) -> Formula:
    """A function of the metrics' values by id. Raises ValueError for what isn't known here."""
    try:
        return _built(ast.parse(text, mode="eval").body, text)
    except SyntaxError as error:
        raise ValueError(f"expression {text!r}: {error.msg}") from error


def _built(node: ast.expr, text: str) -> Formula:
    if isinstance(node, ast.Name):
        name = node.id
        return lambda values: values[name]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        number = float(node.value)
        return lambda values: number
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _both(_BINARY[type(node.op)], node.left, node.right, text)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
        return _both(_COMPARED[type(node.ops[0])], node.left, node.comparators[0], text)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLED:
        act, parts = _CALLED[node.func.id], [_built(part, text) for part in node.args]
        return lambda values: float(act(*(part(values) for part in parts)))
    raise ValueError(f"expression {text!r}: {ast.unparse(node)} isn't played here")


def _both(act: Callable[[float, float], float], left: ast.expr, right: ast.expr, text: str) -> Formula:
    one, two = _built(left, text), _built(right, text)
    return lambda values: float(act(one(values), two(values)))

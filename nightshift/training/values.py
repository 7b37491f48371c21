"""Numbers as a script gives them: what is wrong with one, in a sentence."""

from __future__ import annotations

import math
from numbers import Integral, Real

from nightshift.training.errors import TrainingError

SEEDS = (-(2**63), 2**64 - 1)
"""What torch takes."""


def whole(
    name: str, value: object, lowest: int = 1, highest: int | None = None, *, optional: bool = False
) -> str | None:
    """None when it is a whole number in these bounds, or needn't be given and isn't."""
    if value is None and optional:
        return None
    fits = isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= lowest
    if fits and (highest is None or int(value) <= highest):
        return None
    bounds = f"at least {lowest}" if highest is None else f"from {lowest} to {highest}"
    return f"{name}: given {value!r}, expected a whole number, {bounds}"


def positive(name: str, value: object) -> str | None:
    """None when it is a finite number above 0, or not given."""
    if value is None:
        return None
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < math.inf:
        return None
    return f"{name}: given {value!r}, expected a finite number above 0"


def refuse_wrong(*found: str | None) -> None:
    """TrainingError with all that is wrong."""
    wrong = [one for one in found if one]
    if wrong:
        raise TrainingError(*wrong)

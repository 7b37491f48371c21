"""The formulas of alarms."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.rehearsal.control.metric_math import formula

NUMBERS = st.integers(0, 50).map(float)


@settings(deadline=None)
@given(NUMBERS, NUMBERS)
def test_the_deployed_formulas_mean_what_they_say(one: float, two: float) -> None:
    assert formula("desired - in_service")({"desired": one, "in_service": two}) == one - two
    stuck = formula("IF(in_service < 1, pending, 0)")({"in_service": one, "pending": two})
    assert stuck == (two if one < 1 else 0)


@settings(deadline=None)
@given(NUMBERS, NUMBERS)
def test_the_largest_and_the_smallest(one: float, two: float) -> None:
    values = {"a": one, "b": two}
    assert formula("MAX(a, b) + MIN(a, b)")(values) == one + two


def test_a_division_by_nothing_is_nothing() -> None:
    assert formula("a / b")({"a": 3.0, "b": 0.0}) == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("SEARCH('x', 'Sum')", "SEARCH"),
        ("a +", "invalid syntax"),
        ("a and b", "a and b"),
        ("a < b < c", "a < b < c"),
        ("'a'", "'a'"),
    ],
)
def test_what_is_not_known_is_named(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=r"expression") as caught:
        formula(text)
    assert says in str(caught.value)

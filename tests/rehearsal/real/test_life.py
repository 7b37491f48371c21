"""A stretch of training laid over a shift's time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from nightshift.rehearsal.real.gate import Gate
from nightshift.rehearsal.real.life import Life, thinned
from nightshift.rehearsal.real.signs import Point


@given(st.integers(0, 400), st.integers(2, 40))
def test_thinned_points_keep_both_ends_and_their_order(count: int, most: int) -> None:
    points = [Point(step, 1.0) for step in range(count)]
    shown = thinned(points, most)
    assert len(shown) == min(count, most)
    assert shown == sorted(shown, key=lambda each: each.step)
    if points:
        assert (shown[0], shown[-1]) == (points[0], points[-1])


@given(st.integers(0, 10_000), st.integers(1, 500), st.integers(60, 40_000))
def test_a_curve_lies_within_its_time_and_stops_at_its_step(begun: int, steps: int, length: int) -> None:
    points = [Point(begun + number, 1.0) for number in range(1, steps + 5)]
    life = _shown(points)(cast(Any, None), "i-0", cast(Any, None), Gate(), resumed=begun)
    curve = life.curve(begun + steps, 1_000, 1_000 + length)
    assert [at for at, _, _ in curve] == sorted(at for at, _, _ in curve)
    assert all(1_000 <= at <= 1_000 + length for at, _, _ in curve)
    assert curve[-1][:2] == (1_000 + length, begun + steps)


def _shown(points: list[Point]) -> type[Life]:
    class Shown(Life):
        @property
        def signs(self) -> Any:
            return SimpleNamespace(points=lambda after: [each for each in points if each.step > after])

    return Shown

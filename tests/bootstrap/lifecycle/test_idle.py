"""Whether the cards do nothing: whole windows of low samples, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.lifecycle.idle import EVERY_S, IdleWindow, busiest
from bootstrap.manifest import BootIdle

RULE = BootIdle(below_percent=30, lasting_s=300, then="release")


def samples(*percents: int | None, step: float = EVERY_S) -> list[bool]:
    window = IdleWindow(RULE)
    return [window.note(number * step, percent) for number, percent in enumerate(percents)]


def test_cards_are_idle_after_a_whole_window_under_the_limit() -> None:
    assert samples(*[5] * 12) == [False] * 10 + [True] * 2


def test_one_sample_of_work_begins_the_window_anew() -> None:
    assert samples(*[5] * 9, 30, *[5] * 12)[9:] == [False] * 11 + [True] * 2


def test_what_cannot_be_told_is_no_idleness() -> None:
    assert not any(samples(*[5] * 9, None, *[5] * 9))
    assert not any(samples(*[None] * 40))


def test_a_gap_between_samples_proves_nothing() -> None:
    assert not any(samples(*[5] * 20, step=5 * EVERY_S))


@given(st.lists(st.integers(0, 100), max_size=200))
def test_idle_is_said_exactly_when_every_sample_of_the_window_is_low(percents: list[int]) -> None:
    for number, said in enumerate(samples(*percents)):
        last = percents[max(0, number - 10) : number + 1]
        assert said == (len(last) == 11 and max(last) < 30)


@pytest.mark.parametrize(
    ("lines", "percent"),
    [
        (["0", "12", " 99 "], 99),
        (["0", ""], 0),
        ([], None),
        (["[N/A]"], None),
        (["5", "[Unknown Error]"], None),
    ],
)
def test_the_busiest_card_counts(lines: list[str], percent: int | None) -> None:
    assert busiest(lines) == percent

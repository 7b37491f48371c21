"""How often a notebook is started again: within bounds, whatever it does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bootstrap.notebook.restarts import LONGEST_PAUSE_S, MOST, WITHIN_S, pause_s


def lives(seconds: list[float]) -> list[float | None]:
    """The pause after each of the lives, which last so long."""
    now, ends, pauses = 0.0, list[float](), list[float | None]()
    for each in seconds:
        now += each
        ends.append(now)
        pauses.append(pause_s(ends, now))
        if pauses[-1] is None:
            break
        now += pauses[-1] or 0.0
    return pauses


def test_one_that_ends_at_once_again_and_again_is_given_up() -> None:
    assert lives([0.5] * 20) == [1.0, 3.0, 9.0, 27.0, 30.0, None]


def test_one_that_ends_now_and_then_is_started_for_ever() -> None:
    assert lives([WITHIN_S] * 200) == [1.0] * 200


@given(st.lists(st.floats(0, 4000), max_size=60))
def test_no_ten_minutes_ever_see_more_than_five_starts_after_an_end(seconds: list[float]) -> None:
    now, ends, starts = 0.0, list[float](), list[float]()
    for each in seconds:
        now += each
        ends.append(now)
        pause = pause_s(ends, now)
        if pause is None:
            break
        assert 1.0 <= pause <= LONGEST_PAUSE_S
        now += pause
        starts.append(now)
    for start in starts:
        assert sum(start <= other < start + WITHIN_S for other in starts) <= MOST + 1

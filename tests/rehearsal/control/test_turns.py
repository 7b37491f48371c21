"""Scheduled actions in their zones: on nights when clocks change, and what one turn brings."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.rehearsal.control.turns import turns
from nightshift.rehearsal.world.model import ScheduledAction


def at(*parts: int) -> int:
    return int(datetime(*parts, tzinfo=UTC).timestamp())


def up(clock: str, zone: str, days: str = "*", **other: int) -> ScheduledAction:
    hour, minute = clock.split(":")
    return ScheduledAction(
        f"up-{clock}", f"{int(minute)} {int(hour)} * * {days}", zone, other.pop("desired", 1), **other
    )


def test_a_skipped_time_fires_when_the_gap_ends() -> None:
    (turn,) = turns([up("02:30", "America/New_York", "SUN")], at(2026, 3, 8), at(2026, 3, 9))
    assert turn.at == at(2026, 3, 8, 7)


def test_a_time_that_comes_twice_fires_the_first_time() -> None:
    (turn,) = turns([up("01:30", "America/New_York", "SUN")], at(2026, 11, 1), at(2026, 11, 2))
    assert turn.at == at(2026, 11, 1, 5, 30)


def test_what_a_gap_brings_together_is_one_turn_in_the_order_of_the_clock() -> None:
    late, early = up("02:50", "America/New_York"), up("02:10", "America/New_York", desired=0)
    (turn,) = turns([late, early], at(2026, 3, 8), at(2026, 3, 9))
    assert [action.name for action in turn.actions] == [early.name, late.name]


def test_a_start_time_holds_back_every_turn_before_it() -> None:
    action = up("20:00", "Etc/UTC", start=at(2026, 12, 9))
    found = list(turns([action], at(2026, 12, 7), at(2026, 12, 11)))
    assert [turn.at for turn in found] == [at(2026, 12, 9, 20), at(2026, 12, 10, 20)]


def test_an_action_without_a_recurrence_fires_once_at_its_start() -> None:
    once = ScheduledAction("wake-end", None, "Etc/UTC", 0, start=at(2026, 12, 8, 5))
    assert [turn.at for turn in turns([once], at(2026, 12, 7), at(2026, 12, 9))] == [at(2026, 12, 8, 5)]
    assert list(turns([once], at(2026, 12, 9), at(2026, 12, 10))) == []


@settings(deadline=None)
@given(st.integers(0, 23), st.integers(0, 59), st.integers(1, 30))
def test_a_daily_action_fires_once_a_day_at_its_minute(hour: int, minute: int, days: int) -> None:
    start = at(2026, 6, 1)
    found = list(turns([up(f"{hour}:{minute}", "Etc/UTC")], start, start + days * 86_400))
    assert [(turn.at - start) % 86_400 for turn in found] == [hour * 3_600 + minute * 60] * days

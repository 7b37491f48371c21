from __future__ import annotations

from datetime import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.plan.errors import PlanError
from nightshift.plan.shifts import Shift, Window, compile_actions, week_windows
from tests.campaigns.calendar_oracle import week_table

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
times = st.builds(time, st.integers(0, 23), st.integers(0, 59))
shifts = st.builds(Shift, st.lists(st.sampled_from(DAYS), min_size=1, max_size=7).map(tuple), times, times)
weeks = st.lists(shifts, min_size=1, max_size=5).map(tuple)


def table_of(windows: tuple[Window, ...]) -> bytes:
    table = bytearray(10080)
    for window in windows:
        for minute in range(window.start, window.end):
            assert not table[minute % 10080], "windows overlap"
            table[minute % 10080] = 1
    return bytes(table)


@given(weeks)
def test_the_merged_week_is_the_union_of_the_shifts_minute_by_minute(week: tuple[Shift, ...]) -> None:
    assert table_of(week_windows(week)) == week_table(week)


@given(weeks)
def test_merged_windows_leave_a_gap_between_them(week: tuple[Shift, ...]) -> None:
    windows = week_windows(week)
    starts, ends = {w.start for w in windows}, {w.end % 10080 for w in windows}
    assert windows == (Window(0, 10080),) or not starts & ends


@given(weeks)
def test_actions_fire_at_every_edge_of_the_week_and_nowhere_else(week: tuple[Shift, ...]) -> None:
    windows, actions = week_windows(week), compile_actions(week, "Etc/UTC", 3)
    ups = {minute for action in actions if action.desired for minute in action.week_minutes}
    downs = {minute for action in actions if not action.desired for minute in action.week_minutes}
    assert ups == {window.start for window in windows}
    assert downs == (set() if windows == (Window(0, 10080),) else {w.end % 10080 for w in windows})


@given(weeks)
def test_no_two_actions_share_a_name_a_minute_or_a_clock_time_of_one_size(week: tuple[Shift, ...]) -> None:
    actions = compile_actions(week, "Etc/UTC", 3)
    minutes = [minute for action in actions for minute in action.week_minutes]
    clocks = [(action.desired, action.recurrence.split()[:2]) for action in actions]
    assert len({action.name for action in actions}) == len(actions)
    assert len(set(minutes)) == len(minutes)
    assert all(clocks.count(clock) == 1 for clock in clocks)


def test_a_night_shift_comes_down_on_the_following_days() -> None:
    night = Shift(("mon", "wed", "fri"), time(20), time(7))
    up, down = compile_actions([night], "Asia/Shanghai", 2)
    assert (up.name, up.recurrence, up.desired) == ("up-2000", "0 20 * * MON,WED,FRI", 2)
    assert (down.name, down.recurrence, down.desired) == ("down-0700", "0 7 * * TUE,THU,SAT", 0)
    assert {up.time_zone, down.time_zone} == {"Asia/Shanghai"}
    assert (up.min_size, up.max_size) == (-1, -1), "an unset size would be sent as 0"


def test_a_sunday_night_ends_on_monday() -> None:
    _, down = compile_actions([Shift(("sun",), time(22), time(6))], "Etc/UTC", 1)
    assert down.recurrence == "0 6 * * MON"


def test_touching_shifts_are_one_window() -> None:
    halves = [Shift(("sat",), time(9), time(12)), Shift(("sat",), time(12), time(18))]
    assert [action.name for action in compile_actions(halves, "Etc/UTC", 1)] == ["up-0900", "down-1800"]


def test_equal_times_mean_twenty_four_hours() -> None:
    assert week_windows([Shift(("tue",), time(8), time(8))]) == (Window(1440 + 480, 2880 + 480),)


def test_a_whole_week_is_one_weekly_up() -> None:
    (action,) = compile_actions([Shift(DAYS, time(5), time(5))], "Etc/UTC", 4)
    assert (action.name, action.recurrence, action.desired) == ("up-0000", "0 0 * * MON", 4)


def test_every_day_is_a_star() -> None:
    assert compile_actions([Shift(DAYS, time(9), time(17))], "Etc/UTC", 1)[0].recurrence == "0 9 * * *"


def test_a_name_stays_when_only_days_change() -> None:
    before = compile_actions([Shift(("mon",), time(20), time(7))], "Etc/UTC", 1)
    after = compile_actions([Shift(("mon", "tue"), time(20), time(7))], "Etc/UTC", 1)
    assert [action.name for action in before] == [action.name for action in after]


def test_more_actions_than_aws_allows_are_refused_with_the_sum() -> None:
    many = [Shift(("mon",), time(i // 6, i % 6 * 10), time(i // 6, i % 6 * 10 + 5)) for i in range(63)]
    assert len(compile_actions(many[:62], "Etc/UTC", 1)) == 124
    with pytest.raises(PlanError, match="126 scheduled actions, AWS allows 125"):
        compile_actions(many, "Etc/UTC", 1)


@pytest.mark.parametrize(
    ("days", "start"), [((), time(9)), (("funday",), time(9)), (("mon",), time(9, 0, 30))]
)
def test_a_shift_that_means_nothing_is_refused(days: tuple[str, ...], start: time) -> None:
    with pytest.raises(ValueError, match="expected"):
        Shift(days, start, time(17))  # ty: ignore[invalid-argument-type]

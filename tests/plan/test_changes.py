from __future__ import annotations

from datetime import UTC, datetime, time

from nightshift.plan.calendar import Calendar
from nightshift.plan.changes import RunningGroup, changed_actions, near_firings, running_conflicts, wake_hint
from nightshift.plan.shifts import Shift, compile_actions

NIGHT = (Shift(("mon", "wed", "fri"), time(20), time(7)),)
WEEKEND = (Shift(("mon", "wed", "fri", "sat"), time(20), time(7)),)
LATER = (Shift(("mon", "wed", "fri"), time(21), time(7)),)
ZONE = "Asia/Shanghai"
MONDAY_EVENING = datetime(2026, 12, 7, 11, 57, tzinfo=UTC)
"""Monday 19:57 in Shanghai."""


def test_nodes_below_the_running_ones_are_refused() -> None:
    (problem,) = running_conflicts({"vit": 1}, {"vit": RunningGroup(2, 2)})
    assert "nodes: 1 and 2 nodes of it run" in problem
    assert "nightshift sleep vit" in problem


def test_a_removed_group_that_runs_is_refused() -> None:
    (problem,) = running_conflicts({}, {"vit": RunningGroup(1, 1)})
    assert "no longer names it and 1 node of it run" in problem


def test_desired_nodes_that_are_still_launching_count() -> None:
    assert len(running_conflicts({}, {"vit": RunningGroup(0, 1)})) == 1


def test_a_group_at_rest_or_grown_is_free_to_change() -> None:
    assert running_conflicts({"a": 3}, {"a": RunningGroup(2, 2), "gone": RunningGroup(0, 0)}) == ()


def test_only_the_actions_that_an_edit_concerns_change() -> None:
    before, after = compile_actions(NIGHT, ZONE, 1), compile_actions(LATER, ZONE, 1)
    assert changed_actions(before, after) == (("up-2100",), ("up-2000",))
    assert changed_actions(before, before) == ((), ())


def test_a_change_of_days_puts_the_same_names_again() -> None:
    before, after = compile_actions(NIGHT, ZONE, 1), compile_actions(WEEKEND, ZONE, 1)
    assert changed_actions(before, after) == (("up-2000", "down-0700"), ())


def test_a_change_minutes_before_its_turn_is_warned_about() -> None:
    before, after = compile_actions(NIGHT, ZONE, 1), compile_actions(WEEKEND, ZONE, 1)
    (warning,) = near_firings(before, after, MONDAY_EVENING)
    assert "action up-2000 changes within 5 minutes of its turn (Mon 2026-12-07 20:00 CST)" in warning


def test_a_removed_action_near_its_turn_is_warned_about() -> None:
    before, after = compile_actions(NIGHT, ZONE, 1), compile_actions(LATER, ZONE, 1)
    assert len(near_firings(before, after, MONDAY_EVENING)) == 1


def test_an_unchanged_action_near_its_turn_is_not() -> None:
    before = compile_actions(NIGHT, ZONE, 1)
    assert near_firings(before, before, MONDAY_EVENING) == ()


def test_a_deploy_inside_a_shift_says_how_to_start_the_group() -> None:
    calendar = Calendar(NIGHT, ZONE, 1)
    hint = wake_hint("vit", calendar, 0, datetime(2026, 12, 7, 15, tzinfo=UTC))
    assert hint is not None
    assert "nightshift wake vit --until 2026-12-07T23:00Z" in hint
    assert wake_hint("vit", calendar, 1, datetime(2026, 12, 7, 15, tzinfo=UTC)) is None
    assert wake_hint("vit", calendar, 0, MONDAY_EVENING) is None

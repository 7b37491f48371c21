from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.plan.calendar import Calendar
from nightshift.plan.errors import PlanError
from nightshift.plan.override import (
    ActionPut,
    VerbPlan,
    action_start_times,
    next_firing,
    plan_hold,
    plan_resume,
    plan_sleep,
    plan_wake,
)
from nightshift.plan.shifts import Action, Shift, compile_actions

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
LAB = Calendar((Shift(("mon", "wed", "fri"), time(20), time(7)),), "Asia/Shanghai", 2)
MONDAY_NOON = datetime(2026, 12, 7, 4, tzinfo=UTC)
"""Monday 12:00 in Shanghai."""
MINUTE = timedelta(minutes=1)
times = st.builds(time, st.integers(0, 23), st.integers(0, 59))
shifts = st.builds(Shift, st.lists(st.sampled_from(DAYS), min_size=1, max_size=7).map(tuple), times, times)
ALWAYS = (Shift(DAYS, time(0), time(0)),)
weeks = st.lists(shifts, min_size=1, max_size=3).map(tuple) | st.just(ALWAYS)
verbs = st.tuples(
    st.sampled_from(["hold", "wake", "sleep", "resume"]),
    st.integers(1, 20000),
    st.integers(0, 9000),
    st.booleans(),
)


class Group:
    """A group as AWS documents it: an action runs at its start time and by its cron from there."""

    def __init__(self, calendar: Calendar, now: datetime) -> None:
        self.now = now
        self.size = calendar.nodes if calendar.is_up(now) else 0
        self.actions: dict[str, tuple[Action | None, datetime, int]] = {}
        for action in compile_actions(calendar.shifts, calendar.zone, calendar.nodes):
            self.actions[action.name] = (action, next_firing(action, now + MINUTE / 60), action.desired)

    def apply(self, plan: VerbPlan) -> None:
        for put in plan.puts:
            self._put(put)
        for name in plan.deletes:
            self.actions.pop(name, None)
        starts = [start for _, start, _ in self.actions.values()]
        assert all(start > self.now for start in starts), "AWS refuses a start time in the past"
        if plan.desired is not None:
            self.size = plan.desired

    def _put(self, put: ActionPut) -> None:
        assert put.start_time is not None
        assert put.start_time > self.now
        action = None
        if put.recurrence is not None and put.time_zone is not None:
            action = Action(put.name, put.recurrence, put.time_zone, put.desired)
        self.actions[put.name] = (action, put.start_time, put.desired)

    def run_to(self, end: datetime) -> None:
        while self.actions:
            name = min(self.actions, key=lambda each: (self.actions[each][1], self._nominal(each)))
            action, at, desired = self.actions[name]
            if at > end:
                break
            self.size = desired
            if action is None:
                del self.actions[name]
            else:
                self.actions[name] = (action, next_firing(action, at + MINUTE), desired)
        self.now = end

    def _nominal(self, name: str) -> str:
        return name.partition("-")[2]


def act(verb: str, calendar: Calendar, now: datetime, until: datetime) -> VerbPlan:
    if verb == "resume":
        return plan_resume(calendar, now)
    return {"hold": plan_hold, "wake": plan_wake, "sleep": plan_sleep}[verb](calendar, now, until)


@settings(max_examples=150, deadline=None)
@given(
    weeks,
    st.sampled_from(["Asia/Shanghai", "America/New_York", "Etc/UTC"]),
    st.integers(0, 500_000),
    st.lists(verbs, min_size=1, max_size=4),
)
def test_after_any_verbs_the_group_is_what_the_calendar_with_the_record_says(
    week: tuple[Shift, ...], zone: str, offset: int, said: list[tuple[str, int, int, bool]]
) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC) + offset * MINUTE
    calendar = Calendar(week, zone, 2)
    group = Group(calendar, now)
    for verb, length, wait, on_an_edge in said:
        edges = calendar.without_override().events(now + MINUTE, now + timedelta(days=15))
        until = edges[length % len(edges)].at if on_an_edge and edges else now + length * MINUTE
        plan = act(verb, calendar, now, until)
        group.apply(plan)
        calendar = replace(calendar, override=plan.override)
        end = now + wait * MINUTE
        for event in calendar.events(now + MINUTE, end):
            group.run_to(event.at)
            assert group.size == event.desired, (verb, event)
        group.run_to(end)
        assert (group.size > 0) == calendar.is_up(end)
        now = end


def test_hold_starts_the_up_action_at_its_first_turn_after_the_end() -> None:
    plan = plan_hold(LAB, MONDAY_NOON, datetime(2026, 12, 9, 4, tzinfo=UTC))
    (put,) = plan.puts
    assert (put.name, put.start_time) == ("up-2000", datetime(2026, 12, 9, 12, tzinfo=UTC))
    assert plan.override is not None
    assert (plan.override.state, plan.desired, plan.deletes) == ("down", 0, ())
    assert plan.says[-1] == "next up: Wed 2026-12-09 20:00 CST"


def test_hold_that_ends_on_a_shift_start_begins_with_that_shift() -> None:
    start = datetime(2026, 12, 9, 12, tzinfo=UTC)
    assert plan_hold(LAB, MONDAY_NOON, start).puts[0].start_time == start


def test_hold_of_a_running_group_takes_it_down() -> None:
    running = MONDAY_NOON + timedelta(hours=10)
    assert plan_hold(LAB, running, running + timedelta(days=1)).desired == 0


def test_hold_beyond_no_turn_touches_no_action() -> None:
    assert plan_hold(LAB, MONDAY_NOON, MONDAY_NOON + timedelta(hours=2)).puts == ()


def test_wake_by_day_ends_by_a_one_off() -> None:
    until = MONDAY_NOON + timedelta(hours=3)
    plan = plan_wake(LAB, MONDAY_NOON, until)
    assert plan.puts == (ActionPut("wake-end", None, None, 0, until),)
    assert plan.desired == 2


def test_wake_into_a_shift_needs_no_one_off() -> None:
    assert plan_wake(LAB, MONDAY_NOON, MONDAY_NOON + timedelta(hours=10)).puts == ()


def test_wake_over_a_shift_end_moves_the_regular_down() -> None:
    until = datetime(2026, 12, 8, 4, tzinfo=UTC)
    puts = {put.name: put.start_time for put in plan_wake(LAB, MONDAY_NOON, until).puts}
    assert puts == {"down-0700": datetime(2026, 12, 9, 23, tzinfo=UTC), "wake-end": until}


def test_wake_to_exactly_a_shift_end_lets_the_regular_down_do_it() -> None:
    assert plan_wake(LAB, MONDAY_NOON, datetime(2026, 12, 7, 23, tzinfo=UTC)).puts == ()


def test_sleep_without_an_end_lasts_to_the_next_shift_start() -> None:
    running = MONDAY_NOON + timedelta(hours=10)
    plan = plan_sleep(LAB, running)
    assert plan.override is not None
    assert (plan.override.until, plan.desired, plan.puts) == (datetime(2026, 12, 9, 12, tzinfo=UTC), 0, ())


def test_sleep_of_a_group_that_is_always_up_asks_for_an_end() -> None:
    always = Calendar(ALWAYS, "Etc/UTC", 1)
    with pytest.raises(PlanError, match="say until when"):
        plan_sleep(always, MONDAY_NOON)
    until = MONDAY_NOON + timedelta(days=20)
    assert plan_sleep(always, MONDAY_NOON, until).puts[0].start_time == until


def test_resume_gives_a_held_action_its_next_turn_back() -> None:
    held = replace(LAB, override=plan_hold(LAB, MONDAY_NOON, MONDAY_NOON + timedelta(days=9)).override)
    plan = plan_resume(held, MONDAY_NOON + MINUTE)
    (put,) = plan.puts
    assert (put.name, put.start_time) == ("up-2000", datetime(2026, 12, 7, 12, tzinfo=UTC))
    assert (plan.override, plan.desired) == (None, 0)


def test_resume_inside_a_shift_starts_the_group() -> None:
    assert plan_resume(LAB, MONDAY_NOON + timedelta(hours=10)).desired == 2


def test_resume_after_a_wake_takes_its_one_off_away() -> None:
    woken = replace(LAB, override=plan_wake(LAB, MONDAY_NOON, MONDAY_NOON + timedelta(hours=3)).override)
    assert plan_resume(woken, MONDAY_NOON + MINUTE).deletes == ("wake-end",)


@pytest.mark.parametrize("verb", [plan_hold, plan_wake, plan_sleep])
def test_an_end_that_is_not_ahead_is_refused_with_both_times(verb: object) -> None:
    assert callable(verb)
    with pytest.raises(PlanError, match="Mon 2026-12-07 12:00 CST, which isn't after now"):
        verb(LAB, MONDAY_NOON, MONDAY_NOON)


def test_without_an_override_in_force_no_action_carries_a_start() -> None:
    past = replace(LAB, override=plan_hold(LAB, MONDAY_NOON, MONDAY_NOON + timedelta(days=1)).override)
    assert action_start_times(LAB, MONDAY_NOON) == {}
    assert action_start_times(past, MONDAY_NOON + timedelta(days=2)) == {}
    assert set(action_start_times(past, MONDAY_NOON)) == {"up-2000"}

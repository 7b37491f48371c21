"""Only turns to which AWS can't have come by itself are wrong ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from nightshift.cli.live import LiveAction, LiveGroup
from nightshift.cli.turns import repeat, wrong_turns
from nightshift.cli.when import parse_until
from nightshift.emulator.cloud.services.schedules import next_start
from nightshift.plan.calendar import Calendar, Override
from nightshift.plan.override import action_start_times, wake_end
from nightshift.plan.shifts import Shift, compile_actions

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
NIGHTS = Calendar((Shift(DAYS, time(2, 30), time(7)),), "Asia/Shanghai", 1)
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)
ZONES = ("Asia/Shanghai", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Antarctica/Troll")
times = st.builds(time, st.integers(0, 23), st.sampled_from([0, 30]))
shifts = st.builds(Shift, st.lists(st.sampled_from(DAYS), min_size=1, max_size=7).map(tuple), times, times)
weeks = st.lists(shifts, min_size=1, max_size=3).map(tuple) | st.just((Shift(DAYS, time(0), time(0)),))
calendars = st.builds(Calendar, weeks, st.sampled_from(ZONES), st.just(2))
minutes = st.integers(1, 30_000)
instants = st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31), timezones=st.just(UTC)).map(
    lambda at: at.replace(microsecond=0)
)


def _live(calendar: Calendar, said: datetime, now: datetime) -> LiveGroup:
    """The group as AWS shows it at `now`, the override's verb having run at `said`."""
    starts = action_start_times(calendar, said)
    actions = {}
    for one in compile_actions(calendar.shifts, calendar.zone, calendar.nodes):
        start = starts.get(one.name)
        if start is None or start <= now:
            start = next_start(one.recurrence, one.time_zone, now.replace(tzinfo=None)).replace(tzinfo=UTC)
        actions[one.name] = LiveAction(one.name, one.recurrence, one.time_zone, one.desired, start)
    end = wake_end(calendar)
    if end and end.start_time and end.start_time > now:
        actions[end.name] = LiveAction(end.name, None, None, 0, end.start_time)
    return LiveGroup("g", "lab.g", 0, actions=actions)


ALWAYS = Calendar((Shift(DAYS, time(0), time(0)),), "Asia/Shanghai", 2)
THURSDAY = datetime(2026, 1, 1, tzinfo=UTC)


@given(
    calendars,
    st.sampled_from(["none", "up", "down"]),
    instants,
    minutes,
    minutes,
    st.integers(-90, 90),
)
@example(ALWAYS, "down", THURSDAY, 1, 1, -1)  # the hold has just ended at AWS, by our clock not yet
def test_a_sound_group_is_never_wrong(
    calendar: Calendar, state: Any, said: datetime, length: int, later: int, skew: int
) -> None:
    """At any time under an override and after it, in DST nights, and with a clock that is a bit off."""
    until = (said + timedelta(minutes=length)).replace(second=0)
    if state != "none" and until > said:
        calendar = replace(calendar, override=Override(state, until))
    now = said + timedelta(minutes=later)
    assert wrong_turns(calendar, _live(calendar, said, now), now + timedelta(seconds=skew)) == []
    assert wrong_turns(calendar, _live(calendar, said, said), said) == []


@given(calendars, st.sampled_from(["up", "down"]), instants, minutes)
def test_what_an_override_left_moved_is_found_once_its_record_is_gone(
    calendar: Calendar, state: Any, now: datetime, length: int
) -> None:
    until = (now + timedelta(minutes=length)).replace(second=0)
    if until <= now:
        return
    held = replace(calendar, override=Override(state, until))
    plain = _live(calendar, now, now)
    moved = _live(held, now, now)
    far = {
        name
        for name, one in moved.actions.items()
        if (before := plain.actions.get(name)) and one.start and before.start
        if one.start > before.start + 8 * DAY and before.start > now + DAY / 12
    }
    found = wrong_turns(calendar, moved, now)
    assert all(any(f"action {name} " in says for says in found) for name in far)
    assert all("`nightshift resume g` puts it right" in says for says in found)


def test_a_turn_that_comes_before_the_holds_end_is_found_with_both_ways_out() -> None:
    held = replace(NIGHTS, override=Override("down", datetime(2026, 12, 9, 1, tzinfo=UTC)))
    (says,) = wrong_turns(held, _live(NIGHTS, NOW, NOW), NOW)
    assert says == (
        "g: action up-0230 fires next Wed 2026-12-02 02:30 CST, not Thu 2026-12-10 02:30 CST: "
        '`nightshift hold g --until "2026-12-09 09:00"` puts it right, '
        "`nightshift resume g` ends the override"
    )


def test_a_wake_without_its_end_and_an_end_without_its_wake_are_found() -> None:
    woken = replace(NIGHTS, override=Override("up", NOW + DAY / 8))
    (says,) = wrong_turns(woken, _live(NIGHTS, NOW, NOW), NOW)
    assert "no action ends its wake at Tue 2026-12-01 20:00 CST" in says
    (says,) = wrong_turns(NIGHTS, _live(woken, NOW, NOW), NOW)
    assert "wake-end takes it down at Tue 2026-12-01 20:00 CST, which no wake asks for" in says


@given(st.sampled_from(["up", "down"]), instants, st.sampled_from(ZONES))
def test_an_override_said_again_ends_when_it_did(state: Any, until: datetime, zone: str) -> None:
    until = until.replace(second=0)
    words = repeat("g", Override(state, until), zone)
    assert words.startswith("nightshift wake g" if state == "up" else "nightshift hold g")
    assert parse_until(words.split('"')[1], until - DAY, zone) == until

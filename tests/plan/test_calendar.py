from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.plan.calendar import Calendar, Override
from nightshift.plan.shifts import Shift, compile_actions
from tests.campaigns.calendar_oracle import as_minutes, replay, scan, truth
from tests.campaigns.calendar_zones import check_zone

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
NEW_YORK = "America/New_York"
SPRING = datetime(2026, 3, 8, tzinfo=UTC)
AUTUMN = datetime(2026, 11, 1, tzinfo=UTC)
ZONES = (
    NEW_YORK,
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Asia/Kathmandu",
    "America/Nuuk",
    "Africa/Cairo",
)
times = st.builds(time, st.integers(0, 23), st.integers(0, 59))
shifts = st.builds(Shift, st.lists(st.sampled_from(DAYS), min_size=1, max_size=7).map(tuple), times, times)
weeks = st.lists(shifts, min_size=1, max_size=4).map(tuple)
moments = st.datetimes(datetime(2026, 1, 1), datetime(2030, 12, 1), timezones=st.just(UTC)).map(
    lambda at: at.replace(second=0, microsecond=0)
)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def night(day: str, start: str, end: str) -> Calendar:
    shift = Shift((day,), time.fromisoformat(start), time.fromisoformat(end))  # ty: ignore[invalid-argument-type]
    return Calendar((shift,), NEW_YORK, 2)


@settings(max_examples=40, deadline=None)
@given(weeks, st.sampled_from(ZONES), moments)
def test_intervals_equal_a_scan_of_every_minute_and_the_replayed_actions(
    week: tuple[Shift, ...], zone: str, start: datetime
) -> None:
    seen = scan(ZoneInfo(zone), start, 3 * 1440)
    true = truth(week, seen)
    calendar = Calendar(week, zone, 1)
    assert as_minutes(calendar.intervals(start, start + timedelta(days=3)), start, 3 * 1440) == true
    assert replay(compile_actions(week, zone, 1), start, 3 * 1440) == true


@pytest.mark.parametrize("zone", ["Australia/Lord_Howe", "Africa/Cairo"])
def test_every_transition_of_a_sampled_zone_agrees_with_the_scan(zone: str) -> None:
    tally = check_zone(zone)
    assert tally.transitions == 10
    assert (tally.wrong_minutes, tally.wrong_replay_minutes, tally.wrong_flags) == (0, 0, 0)


def test_a_start_that_the_clocks_skip_comes_when_the_gap_ends_and_says_so() -> None:
    first = night("sun", "02:30", "09:00").events(SPRING, SPRING + timedelta(days=1))[0]
    assert (first.at, first.flags) == (utc("2026-03-08T07:00"), ("gap",))
    assert first.local == "Sun 2026-03-08 03:00 EDT"


def test_an_end_that_comes_twice_is_the_first_one_and_says_so() -> None:
    last = night("sat", "20:00", "01:30").events(AUTUMN, AUTUMN + timedelta(days=1))[-1]
    assert (last.at, last.kind, last.flags) == (utc("2026-11-01T05:30"), "down", ("fold",))


def test_a_group_never_starts_twice_in_a_fold() -> None:
    events = night("sun", "00:30", "01:30").events(AUTUMN, AUTUMN + timedelta(days=1))
    assert [event.kind for event in events] == ["up", "down"]


def test_a_shift_that_lies_in_a_gap_does_not_happen() -> None:
    calendar = night("sun", "02:10", "02:50")
    assert calendar.intervals(SPRING, SPRING + timedelta(days=1)) == ()
    assert calendar.events(SPRING, SPRING + timedelta(days=1)) == ()


def test_shifts_that_a_gap_brings_together_are_one() -> None:
    two = (Shift(("sun",), time(1), time(2, 10)), Shift(("sun",), time(2, 50), time(5)))
    calendar = Calendar(two, NEW_YORK, 1)
    assert calendar.intervals(SPRING, SPRING + timedelta(days=1)) == (
        (utc("2026-03-08T06:00"), utc("2026-03-08T09:00")),
    )


@settings(max_examples=60, deadline=None)
@given(
    weeks,
    st.sampled_from(ZONES),
    moments,
    st.none() | st.tuples(st.sampled_from(["up", "down"]), st.integers(-3000, 9000)),
)
def test_next_events_walk_through_all_events_and_levels_follow_them(
    week: tuple[Shift, ...], zone: str, start: datetime, word: tuple[str, int] | None
) -> None:
    override = Override(word[0], start + timedelta(minutes=word[1])) if word else None  # ty: ignore[invalid-argument-type]
    calendar = Calendar(week, zone, 3, override)
    end = start + timedelta(days=16)
    listed = calendar.events(start, end)
    at, walked = start - timedelta(microseconds=1), []
    while (event := calendar.next_event(at)) and event.at < end:
        walked.append(event)
        at = event.at
    assert tuple(walked) == listed
    for event in listed:
        assert calendar.is_up(event.at) == (event.kind == "up")
        assert calendar.is_up(event.at - timedelta(seconds=1)) == (event.kind == "down")
        assert event.desired == (3 if event.kind == "up" else 0)


@settings(max_examples=60, deadline=None)
@given(weeks, st.sampled_from(ZONES), moments, st.integers(1, 9000))
def test_an_override_speaks_until_its_end_and_the_shifts_after_it(
    week: tuple[Shift, ...], zone: str, start: datetime, length: int
) -> None:
    until = start + timedelta(minutes=length)
    plain = Calendar(week, zone, 1)
    end = until + timedelta(days=9)
    woken = Calendar(week, zone, 1, Override("up", until))
    assert woken.intervals(start, until) == ((start, until),)
    assert woken.intervals(until, end) == plain.intervals(until, end)
    held = Calendar(week, zone, 1, Override("down", until))
    assert held.intervals(start, until) == ()
    starts = [first for first, _ in held.intervals(until, end)]
    whole_week = plain.intervals(start, end) == ((start, end),) and plain.next_event(start) is None
    regular = [event.at for event in plain.events(until, end) if event.kind == "up"]
    assert starts == ([until] if whole_week else regular)


def test_a_hold_that_ends_inside_a_shift_keeps_that_shift_down() -> None:
    mid = utc("2026-06-02T03:00")
    calendar = Calendar(night("mon", "20:00", "07:00").shifts, NEW_YORK, 1, Override("down", mid))
    assert not calendar.is_up(mid + timedelta(hours=1))
    event = calendar.next_event(mid)
    assert event is not None
    assert event.at == utc("2026-06-09T00:00")


def test_a_hold_that_ends_on_a_shift_start_lets_that_shift_begin() -> None:
    start = utc("2026-06-02T00:00")
    assert Calendar(night("mon", "20:00", "07:00").shifts, NEW_YORK, 1, Override("down", start)).is_up(start)


def test_a_wake_that_ends_with_a_shift_ends_once_and_by_the_shift() -> None:
    end = utc("2026-06-02T11:00")
    calendar = Calendar(night("mon", "20:00", "07:00").shifts, NEW_YORK, 1, Override("up", end))
    (event,) = calendar.events(utc("2026-06-01T10:00"), utc("2026-06-03T00:00"))
    assert (event.at, event.kind, event.cause) == (end, "down", "shift")


def test_a_wake_that_ends_in_a_shift_goes_on_to_its_end() -> None:
    until = utc("2026-06-02T03:00")
    calendar = Calendar(night("mon", "20:00", "07:00").shifts, NEW_YORK, 1, Override("up", until))
    event = calendar.next_event(utc("2026-06-01T10:00"))
    assert event is not None
    assert (event.at, event.kind, event.cause) == (utc("2026-06-02T11:00"), "down", "shift")


def test_a_wake_between_shifts_ends_by_the_override() -> None:
    until = utc("2026-06-03T15:00")
    calendar = Calendar(night("mon", "20:00", "07:00").shifts, NEW_YORK, 1, Override("up", until))
    event = calendar.next_event(utc("2026-06-03T10:00"))
    assert event is not None
    assert (event.at, event.kind, event.cause) == (until, "down", "override")


def test_a_group_that_is_always_up_has_no_events() -> None:
    always = Calendar((Shift(DAYS, time(0), time(0)),), NEW_YORK, 1)
    assert always.next_event(SPRING) is None
    assert always.intervals(SPRING, AUTUMN) == ((SPRING, AUTUMN),)


def test_a_group_without_shifts_is_never_up() -> None:
    never = Calendar((), NEW_YORK, 1)
    assert never.next_event(SPRING) is None
    assert never.intervals(SPRING, AUTUMN) == ()


def test_times_of_any_zone_are_read_as_their_instant() -> None:
    calendar = night("mon", "20:00", "07:00")
    there = datetime(2026, 6, 2, 9, tzinfo=timezone(timedelta(hours=8)))
    assert calendar.is_up(there)


def test_a_naive_time_is_refused() -> None:
    with pytest.raises(ValueError, match="without a zone"):
        night("mon", "20:00", "07:00").intervals(datetime(2026, 1, 1), SPRING)

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.plan.calendar import Calendar, Override
from nightshift.plan.conflicts import VolumeUser, conflicts, first_meeting
from nightshift.plan.shifts import Shift

NOW = datetime(2026, 12, 1, tzinfo=UTC)
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
EVERY_DAY = DAYS


def user(group: str, start: str, end: str, zone: str = "Asia/Shanghai", *volumes: str) -> VolumeUser:
    shift = Shift(EVERY_DAY, time.fromisoformat(start), time.fromisoformat(end))
    return VolumeUser(group, Calendar((shift,), zone, 1), volumes or ("runs",))


def test_day_and_night_share_a_volume() -> None:
    assert conflicts([user("desk", "09:00", "18:00"), user("vit", "20:00", "07:00")], NOW) == ()


def test_touching_is_not_meeting() -> None:
    assert conflicts([user("desk", "07:00", "20:00"), user("vit", "20:00", "07:00")], NOW) == ()


def test_a_minute_together_is_refused_with_groups_volume_and_time() -> None:
    (found,) = conflicts([user("desk", "09:00", "20:01"), user("vit", "20:00", "07:00")], NOW)
    assert (found.volume, found.first, found.second) == ("runs", "desk", "vit")
    assert found.at == datetime(2026, 12, 1, 12, tzinfo=UTC)
    assert "both up from Tue 2026-12-01 20:00 CST" in found.says


def test_groups_that_share_nothing_may_meet() -> None:
    assert (
        conflicts(
            [user("a", "09:00", "20:00", "Etc/UTC", "x"), user("b", "09:00", "20:00", "Etc/UTC", "y")], NOW
        )
        == ()
    )


def test_zones_that_drift_apart_in_summer_are_caught_on_that_night() -> None:
    here = user("here", "00:00", "12:00", "America/New_York")
    there = user("there", "16:30", "00:00", "Etc/UTC")
    (found,) = conflicts([here, there], datetime(2026, 4, 1, tzinfo=UTC))
    assert found.at == datetime(2026, 11, 1, 16, 30, tzinfo=UTC)
    assert "UTC)" in found.says


def test_an_override_does_not_hide_a_conflict() -> None:
    held = Override("down", NOW + timedelta(days=900))
    one = user("desk", "09:00", "21:00")
    two = VolumeUser("vit", Calendar(one.calendar.shifts, "Asia/Shanghai", 1, held), ("runs",))
    assert len(conflicts([one, two], NOW)) == 1


times = st.builds(time, st.integers(0, 23), st.integers(0, 59))
shifts = st.builds(Shift, st.lists(st.sampled_from(DAYS), min_size=1, max_size=3).map(tuple), times, times)
calendars = st.builds(
    Calendar, st.tuples(shifts), st.sampled_from(["America/New_York", "Europe/Berlin", "Etc/UTC"]), st.just(1)
)


@settings(max_examples=40, deadline=None)
@given(calendars, calendars)
def test_the_first_meeting_is_the_first_minute_in_which_both_are_up(one: Calendar, two: Calendar) -> None:
    end = NOW + timedelta(days=9)
    meeting = first_meeting(one.intervals(NOW, end), two.intervals(NOW, end))
    together = (
        at
        for at in sorted({event.at for each in (one, two) for event in each.events(NOW, end)} | {NOW})
        if one.is_up(at) and two.is_up(at)
    )
    assert meeting == next(together, None)

"""A second opinion on the calendar that shares no code with it: it looks at every UTC minute.

The group is up in a minute when the high-water mark of the local wall clock, at that minute, lies in a
shift. The wall clock comes from zoneinfo, minute by minute; nothing here knows a gap or a fold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim

from nightshift.plan.shifts import Action, Shift

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MINUTE = timedelta(minutes=1)
WEEK_MINUTES = 7 * 24 * 60
Interval = tuple[datetime, datetime]


@dataclass(frozen=True)
class Scan:
    """The minutes from `start` on: the mark's minute of the week, and how often each wall minute came."""

    start: datetime
    marks: tuple[int, ...]
    walls: Counter[datetime]


def scan(zone: ZoneInfo, start: datetime, minutes: int) -> Scan:
    """Walk `minutes` UTC minutes from `start`, with two days before it to learn the mark."""
    lead = 2 * 24 * 60
    mark = datetime(1, 1, 1)
    marks: list[int] = []
    walls: Counter[datetime] = Counter()
    at = start - lead * MINUTE
    for step in range(lead + minutes):
        wall = at.astimezone(zone).replace(tzinfo=None, fold=0)
        walls[wall] += 1
        mark = max(mark, wall)
        if step >= lead:
            marks.append(mark.weekday() * 1440 + mark.hour * 60 + mark.minute)
        at += MINUTE
    return Scan(start, tuple(marks), walls)


def week_table(shifts: Sequence[Shift]) -> bytes:
    """One byte per minute of the local week, 1 inside a shift."""
    table = bytearray(WEEK_MINUTES)
    for shift in shifts:
        begin = shift.start.hour * 60 + shift.start.minute
        length = (shift.end.hour * 60 + shift.end.minute - begin) % 1440 or 1440
        for day in shift.days:
            for minute in range(length):
                table[(DAYS.index(day) * 1440 + begin + minute) % WEEK_MINUTES] = 1
    return bytes(table)


def truth(shifts: Sequence[Shift], seen: Scan) -> bytes:
    """One byte per scanned minute, 1 where the group is up."""
    return bytes(map(week_table(shifts).__getitem__, seen.marks))


def as_minutes(intervals: Sequence[Interval], start: datetime, minutes: int) -> bytes:
    """Intervals as one byte per minute; an edge that isn't on a whole minute shows as a wrong one."""
    line = bytearray(minutes)
    for first, last in intervals:
        low, high = (first - start) / MINUTE, (last - start) / MINUTE
        if low != int(low) or high != int(high):
            raise AssertionError(f"edge off the minute: {first} {last}")
        line[int(low) : int(high)] = b"\1" * (int(high) - int(low))
    return bytes(line)


def wrong_minutes(given: bytes, true: bytes) -> int:
    """How many minutes differ."""
    return 0 if given == true else sum(a != b for a, b in zip(given, true, strict=True))


def replay(actions: Sequence[Action], start: datetime, minutes: int) -> bytes:
    """The same minutes from the scheduled actions, fired by an independent cron library.

    Actions that a gap brings together run in the order of their nominal times, which is the order in
    which a week has them.
    """
    end = start + minutes * MINUTE
    fired: list[tuple[datetime, int, bool]] = []
    for action in actions:
        zone = ZoneInfo(action.time_zone)
        origin = (start - timedelta(days=16)).astimezone(zone)
        for at in CronSim(action.recurrence, origin):
            instant = at.astimezone(UTC)
            if instant >= end:
                break
            fired.append((instant, _nominal(action, at), action.desired > 0))
    line = bytearray(minutes)
    up, since = False, start
    for at, _, becomes in [*sorted(fired), (end, 0, False)]:
        if up and at > since:
            low, high = (since - start) // MINUTE, (at - start) // MINUTE
            line[low:high] = b"\1" * (high - low)
        up, since = becomes, max(at, start)
    return bytes(line)


def _nominal(action: Action, at: datetime) -> int:
    """The action's nominal minute of the day, for the order among those that fire at one instant."""
    minute, hour = (int(part) for part in action.recurrence.split()[:2])
    clock = hour * 60 + minute
    fired = at.hour * 60 + at.minute
    return clock - 1440 if clock > fired + 720 else clock


def transitions(zone: ZoneInfo, start: datetime, end: datetime) -> list[datetime]:
    """Every instant of [start, end) at which the zone's offset changes, to the minute."""
    found = []
    at, step = start, timedelta(hours=1)
    before = at.astimezone(zone).utcoffset()
    while at < end:
        after = (at + step).astimezone(zone).utcoffset()
        if after != before:
            minute = at
            while minute.astimezone(zone).utcoffset() == before:
                minute += MINUTE
            found.append(minute)
        at, before = at + step, after
    return found

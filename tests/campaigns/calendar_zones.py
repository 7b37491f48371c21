"""Every canonical zone, every transition of 2026 to 2030, every shift edge near it.

Run as `python -m tests.campaigns.calendar_zones --out docs/calendar.json`, about 5 minutes on two cores.
Each case is compared minute by minute with the oracle, and its compiled actions are replayed by a cron
library that knows nothing of the calendar. Exit 1 on one wrong minute.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time as clock
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from importlib.metadata import version
from multiprocessing import Pool
from pathlib import Path
from zoneinfo import ZoneInfo

from nightshift.plan.calendar import Calendar
from nightshift.plan.shifts import Shift, compile_actions
from nightshift.plan.zones import canonical_zones
from tests.campaigns.calendar_oracle import (
    DAYS,
    MINUTE,
    Scan,
    as_minutes,
    replay,
    scan,
    transitions,
    truth,
    wrong_minutes,
)

FIRST, LAST = datetime(2026, 1, 1, tzinfo=UTC), datetime(2031, 1, 1, tzinfo=UTC)
AROUND_MINUTES = 5 * 24 * 60
PLAIN_WEEKS = 10


@dataclass
class Tally:
    """What one zone, or all of them, came to."""

    zones: int = 0
    transitions: int = 0
    gaps: int = 0
    folds: int = 0
    cases: int = 0
    minutes: int = 0
    wrong_minutes: int = 0
    wrong_replay_minutes: int = 0
    edges_in_gaps: int = 0
    edges_in_folds: int = 0
    wrong_flags: int = 0

    def add(self, other: Tally) -> None:
        """Sum up."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def edge_shifts(zone: ZoneInfo, at: datetime, dice: random.Random) -> Iterator[tuple[Shift, ...]]:
    """Shift sets whose edges lie before, on, inside, at the end of and after the transition at `at`."""
    before, after = _wall(at - MINUTE, zone) + MINUTE, _wall(at, zone)
    low, high = min(before, after), max(before, after)
    middle = low + ((high - low) // 2 // MINUTE) * MINUTE
    offsets = (low - 60 * MINUTE, low - MINUTE, low, low + MINUTE, middle, high - MINUTE, high, high + MINUTE)
    edges = [*offsets, high + 60 * MINUTE]
    for start in edges:
        for end in edges:
            yield (_shift(start, end),)
    for edge in edges:
        yield (_shift(edge - timedelta(hours=9), edge),)
        yield (_shift(edge, edge + timedelta(hours=9)),)
    for _ in range(12):
        four = [dice.choice(edges) + dice.randint(-5, 5) * MINUTE for _ in range(4)]
        yield (_shift(four[0], four[1]), _shift(four[2], four[3]))


def _wall(at: datetime, zone: ZoneInfo) -> datetime:
    return at.astimezone(zone).replace(tzinfo=None, fold=0)


def _shift(start: datetime, end: datetime) -> Shift:
    return Shift((DAYS[start.weekday()],), start.time(), end.time())


def random_week(dice: random.Random) -> tuple[Shift, ...]:
    """One to four shifts on any days at any minutes."""
    shifts = []
    for _ in range(dice.randint(1, 4)):
        days = tuple(day for day in DAYS if dice.random() < 0.5) or (dice.choice(DAYS),)
        start, end = (time(dice.randrange(24), dice.randrange(60)) for _ in range(2))
        shifts.append(Shift(days, start, end))
    return tuple(shifts)


def check_case(shifts: tuple[Shift, ...], zone: str, seen: Scan) -> Tally:
    """One shift set over one stretch of minutes."""
    minutes = len(seen.marks)
    end = seen.start + minutes * MINUTE
    calendar = Calendar(shifts, zone, 1)
    true = truth(shifts, seen)
    given = as_minutes(calendar.intervals(seen.start, end), seen.start, minutes)
    replayed = replay(compile_actions(shifts, zone, 1), seen.start, minutes)
    tally = Tally(cases=1, minutes=minutes)
    tally.wrong_minutes = wrong_minutes(given, true)
    tally.wrong_replay_minutes = wrong_minutes(replayed, true)
    _check_flags(calendar, seen, end, tally)
    return tally


def _check_flags(calendar: Calendar, seen: Scan, end: datetime, tally: Tally) -> None:
    """An edge's flag against how often its nominal wall minute was seen: never is a gap, twice a fold."""
    nominal = _nominal_minutes(calendar, seen)
    for event in calendar.events(seen.start, end):
        times = {count for at, count in nominal.get(event.at, [])}
        tally.edges_in_gaps += "gap" in event.flags
        tally.edges_in_folds += "fold" in event.flags
        if event.flags and not times & {0, 2}:
            tally.wrong_flags += 1
        if not event.flags and times and not times & {1}:
            tally.wrong_flags += 1


def _nominal_minutes(calendar: Calendar, seen: Scan) -> dict[datetime, list[tuple[datetime, int]]]:
    """Each instant at which the mark first reaches a shift's edge, with the edge and its wall count."""
    zone = ZoneInfo(calendar.zone)
    reached: dict[datetime, list[tuple[datetime, int]]] = {}
    first = seen.start.astimezone(zone).replace(tzinfo=None)
    wanted = {
        (DAYS.index(day), at) for shift in calendar.shifts for day in DAYS for at in (shift.start, shift.end)
    }
    walls = sorted(seen.walls)
    for offset in range(len(seen.marks) // 1440 + 2):
        day: date = (first + timedelta(days=offset)).date()
        for at in {clock_time for weekday, clock_time in wanted if weekday == day.weekday()}:
            wall = datetime.combine(day, at)
            instant = _first_reach(wall, walls, zone)
            if instant:
                reached.setdefault(instant, []).append((wall, seen.walls[wall]))
    return reached


def _first_reach(wall: datetime, walls: list[datetime], zone: ZoneInfo) -> datetime | None:
    at = bisect_left(walls, wall)
    if at in (0, len(walls)):
        return None
    return walls[at].replace(tzinfo=zone, fold=0).astimezone(UTC)


def check_zone(name: str) -> Tally:
    """All transitions of one zone, and some ordinary weeks."""
    zone, dice = ZoneInfo(name), random.Random(name)
    total = Tally(zones=1)
    for at in transitions(zone, FIRST, LAST):
        total.transitions += 1
        forward = _wall(at, zone) - _wall(at - MINUTE, zone) > MINUTE
        total.gaps += forward
        total.folds += not forward
        seen = scan(zone, at - timedelta(days=2), AROUND_MINUTES)
        for shifts in edge_shifts(zone, at, dice):
            total.add(check_case(shifts, name, seen))
        total.add(check_case(random_week(dice), name, seen))
    for _ in range(PLAIN_WEEKS):
        start = FIRST + timedelta(minutes=dice.randrange(int((LAST - FIRST) / MINUTE)))
        total.add(check_case(random_week(dice), name, scan(zone, start, 7 * 24 * 60)))
    return total


def main() -> int:
    """Run it all; print progress to stderr and the sums as JSON to stdout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path)
    parser.add_argument("zones", nargs="*")
    given = parser.parse_args()
    names = given.zones or sorted(canonical_zones())
    total, began = Tally(), clock.monotonic()
    with Pool(given.processes) as pool:
        for done, tally in enumerate(pool.imap_unordered(check_zone, names), 1):
            total.add(tally)
            if done % 20 == 0 or done == len(names):
                print(
                    f"{done}/{len(names)} zones, {total.cases} cases, {_wrong(total)} wrong", file=sys.stderr
                )
    result = asdict(total) | {"seconds": round(clock.monotonic() - began), "tzdata": version("tzdata")}
    text = json.dumps(result, indent=2)
    print(text)
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")
    return 1 if _wrong(total) else 0


def _wrong(total: Tally) -> int:
    return total.wrong_minutes + total.wrong_replay_minutes + total.wrong_flags


if __name__ == "__main__":
    sys.exit(main())

"""Speed of the calendar: 1,000 shifts over one year, next to an independent cron library.

Both list the same edges in one process, taking turns: `python -m benchmarks.calendar_speed`. Prints JSON,
exit 1 when the edges differ or the median ratio of our time to the library's is above 1.5.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import time as clock
from datetime import UTC, datetime, time, timedelta
from importlib.metadata import version
from zoneinfo import ZoneInfo

from cronsim import CronSim

from nightshift.plan.calendar import Calendar
from nightshift.plan.shifts import Action, Shift, Weekday, compile_actions
from nightshift.plan.zones import canonical_zones

YEAR = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
LIMIT = 1.5
DAYS: tuple[Weekday, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def calendars(count: int) -> list[Calendar]:
    """One shift each, of one to seven days, spread over all zones."""
    dice, zones = random.Random(2026), sorted(canonical_zones())
    made = []
    for index in range(count):
        days = tuple(dice.sample(DAYS, dice.randint(1, 7)))
        start, end = (time(hour, dice.choice((0, 15, 30, 45))) for hour in dice.sample(range(24), 2))
        made.append(Calendar((Shift(days, start, end),), zones[index % len(zones)], 1))
    return made


def ours(made: list[Calendar]) -> int:
    """Edges listed by the calendar."""
    return sum(len(calendar.events(*YEAR)) for calendar in made)


def library(actions: list[Action]) -> int:
    """The same edges from the compiled actions."""
    edges = 0
    for action in actions:
        before = (YEAR[0] - timedelta(minutes=1)).astimezone(ZoneInfo(action.time_zone))
        for at in CronSim(action.recurrence, before):
            if at.astimezone(UTC) >= YEAR[1]:
                break
            edges += 1
    return edges


def main() -> int:
    """Take turns, compare medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shifts", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    made = calendars(given.shifts)
    actions = [a for c in made for a in compile_actions(c.shifts, c.zone, c.nodes)]
    rounds = []
    for _ in range(given.rounds):
        began = clock.perf_counter()
        mine = ours(made)
        middle = clock.perf_counter()
        theirs = library(actions)
        rounds.append((middle - began, clock.perf_counter() - middle))
    ratio = statistics.median(one / two for one, two in rounds)
    result = {
        "shifts": given.shifts,
        "edges": mine,
        "library_edges": theirs,
        "library": f"cronsim {version('cronsim')}",
        "seconds": round(statistics.median(one for one, _ in rounds), 3),
        "library_seconds": round(statistics.median(two for _, two in rounds), 3),
        "ratio": round(ratio, 3),
        "limit": LIMIT,
        "rounds": given.rounds,
        "load": round(os.getloadavg()[0], 1),
    }
    print(json.dumps(result, indent=2))
    return 0 if ratio <= LIMIT and mine == theirs else 1


if __name__ == "__main__":
    sys.exit(main())

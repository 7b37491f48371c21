"""When scheduled actions fire: an independent cron library on what the deployed actions say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from heapq import merge
from itertools import groupby
from operator import itemgetter
from zoneinfo import ZoneInfo

from cronsim import CronSim

from nightshift.rehearsal.world.model import ScheduledAction

_HALF_A_DAY = 720


@dataclass(frozen=True)
class Turn:
    """The actions of one group that are due at the same instant, in the order of their clock times."""

    at: int
    actions: tuple[ScheduledAction, ...]


def turns(actions: Sequence[ScheduledAction], start: int, end: int) -> Iterator[Turn]:
    """Every turn in [start, end), in order. A gap of the clocks brings several actions into one turn."""
    due = merge(*(_of(action, index, start, end) for index, action in enumerate(actions)))
    for at, together in groupby(due, key=itemgetter(0)):
        yield Turn(at, tuple(actions[index] for _, _, index in together))


def _of(action: ScheduledAction, index: int, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    low = max(start, action.start or start)
    high = min(end, action.end or end)
    if action.recurrence is None:
        if action.start is not None and start <= action.start < high:
            yield action.start, 0, index
        return
    for at, nominal in _fired(action.recurrence, action.time_zone, low, high):
        yield at, nominal, index


@lru_cache(maxsize=512)
def _fired(recurrence: str, zone: str, start: int, end: int) -> tuple[tuple[int, int], ...]:
    """(instant, nominal minute of its day) of each firing in [start, end)."""
    minute, hour = (int(part) for part in recurrence.split()[:2])
    clock = hour * 60 + minute
    origin = datetime.fromtimestamp(start, UTC).astimezone(ZoneInfo(zone)) - timedelta(minutes=1)
    found = []
    for at in CronSim(recurrence, origin):
        instant = int(at.timestamp())
        if instant >= end:
            break
        if instant >= start:
            found.append((instant, _nominal(clock, at.hour * 60 + at.minute)))
    return tuple(found)


def _nominal(clock: int, fired: int) -> int:
    """The action's own minute, counted from the day on which it fires: a gap may end after midnight."""
    return clock - 2 * _HALF_A_DAY if clock > fired + _HALF_A_DAY else clock

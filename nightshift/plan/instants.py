"""From a local wall time to the one instant at which a schedule acts on it.

Everything here follows one rule: an edge happens at the first instant at which the high-water mark of
the local wall clock reaches the edge's nominal time. A time that the clocks skip is reached when the
gap ends; a time that comes twice is reached in the first pass.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

Flag = Literal["gap", "fold"]
UTC = timezone.utc
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MINUTES_PER_DAY = 24 * 60
MINUTES_PER_WEEK = 7 * MINUTES_PER_DAY


@lru_cache(maxsize=1024)
def zone_of(name: str) -> ZoneInfo:
    """The zone's rules. Raises ZoneInfoNotFoundError for a name that the tz database lacks."""
    return ZoneInfo(name)


def first_instant(wall: datetime, zone: ZoneInfo) -> tuple[datetime, tuple[Flag, ...]]:
    """The UTC instant at which `zone`'s clock first reaches the naive `wall`, and what is odd about it."""
    local = wall.replace(tzinfo=zone)
    early = local.utcoffset() or timedelta()
    late = local.replace(fold=1).utcoffset() or timedelta()
    if early == late:
        return (wall - early).replace(tzinfo=UTC), ()
    if early > late:
        return (wall - early).replace(tzinfo=UTC), ("fold",)
    return _gap_end(wall, zone, early, late), ("gap",)


def _gap_end(wall: datetime, zone: ZoneInfo, early: timedelta, late: timedelta) -> datetime:
    """The transition that skips `wall`, to the second: it lies in (wall - late, wall - early]."""
    low = (wall - late).replace(tzinfo=UTC)
    seconds_low, seconds_high = 0, int((late - early).total_seconds())
    while seconds_high - seconds_low > 1:
        middle = (seconds_low + seconds_high) // 2
        if (low + timedelta(seconds=middle)).astimezone(zone).utcoffset() == late:
            seconds_high = middle
        else:
            seconds_low = middle
    return low + timedelta(seconds=seconds_high)


def local_text(at: datetime, zone: ZoneInfo) -> str:
    """The local wall clock as people read it, such as `Mon 2026-12-07 20:00 CST`."""
    local = at.astimezone(zone)
    return f"{WEEKDAYS[local.weekday()].capitalize()} {local:%Y-%m-%d %H:%M} {local.tzname()}"


def require_aware(at: datetime, what: str) -> datetime:
    """`at` in UTC. Raises ValueError for a naive value: guessing a zone would move the shift."""
    if at.tzinfo is None:
        raise ValueError(f"{what}: given {at.isoformat()} without a zone, expected an aware time")
    return at.astimezone(UTC)

"""Groups that share a volume must never be up at once: a volume has one writer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations

from nightshift.plan.calendar import Calendar, Interval
from nightshift.plan.instants import local_text, zone_of

HORIZON = timedelta(days=2 * 366)
"""Two years hold every pair of DST nights that two weekly calendars can meet in."""


@dataclass(frozen=True)
class VolumeUser:
    """A group, when it's up, and the volumes it mounts."""

    group: str
    calendar: Calendar
    volumes: tuple[str, ...]


@dataclass(frozen=True)
class Conflict:
    """Two groups that are up at once with one volume, and when that first happens (UTC)."""

    volume: str
    first: str
    second: str
    at: datetime
    says: str


def conflicts(users: Sequence[VolumeUser], now: datetime) -> tuple[Conflict, ...]:
    """Every pair of groups and volume that meet within two years from `now`; touching isn't meeting.

    A group without shifts is up only by `wake`, and meets nobody here.
    """
    sharing = {name for user in users for name in user.volumes if sum(name in u.volumes for u in users) > 1}
    up = {
        user.group: user.calendar.without_override().intervals(now, now + HORIZON)
        for user in users
        if sharing.intersection(user.volumes)
    }
    found = []
    for one, two in combinations(users, 2):
        shared = [name for name in one.volumes if name in two.volumes]
        meeting = first_meeting(up[one.group], up[two.group]) if shared else None
        if meeting:
            found += [_conflict(name, one, two, meeting) for name in shared]
    return tuple(found)


def first_meeting(one: Sequence[Interval], two: Sequence[Interval]) -> datetime | None:
    """The first instant that lies in an interval of both, given each in order; None when there's none."""
    i = j = 0
    while i < len(one) and j < len(two):
        start = max(one[i][0], two[j][0])
        if start < min(one[i][1], two[j][1]):
            return start
        if one[i][1] <= two[j][1]:
            i += 1
        else:
            j += 1
    return None


def _conflict(volume: str, one: VolumeUser, two: VolumeUser, at: datetime) -> Conflict:
    here = local_text(at, zone_of(one.calendar.zone))
    there = local_text(at, zone_of(two.calendar.zone))
    when = here if one.calendar.zone == two.calendar.zone else f"{here} ({there})"
    says = (
        f'volume "{volume}": groups {one.group} and {two.group} are both up from {when}, and a volume has '
        "one writer; let one shift end before the other begins, or give each group a volume of its own"
    )
    return Conflict(volume, one.group, two.group, at, says)

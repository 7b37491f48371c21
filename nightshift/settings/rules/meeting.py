"""Rules of time: groups that share a volume, and shifts against a capacity block."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import combinations

from nightshift.plan import capacity as planned
from nightshift.plan import zones
from nightshift.plan.blocks import block_problems
from nightshift.plan.conflicts import VolumeUser, conflicts
from nightshift.plan.shifts import Shift, week_windows
from nightshift.settings.group import Group
from nightshift.settings.problem import Problem
from nightshift.settings.scope import Scope
from nightshift.settings.site import Site
from nightshift.settings.to_plan import calendar_of, capacity_of, minutes, volume_users, zone_of


def findings(scope: Scope, now: datetime) -> Iterator[Problem]:
    """Problems of groups whose time zone is known; `now` (UTC) is where the search begins."""
    site = scope.site
    if site is None:
        return
    timed = {
        name: group
        for name, group in ((name, scope.timely(name)) for name in sorted(scope.groups))
        if group is not None and _zoned(scope, name) and zones.zone_problem(zone_of(site, group)) is None
    }
    yield from _sharing(site, timed, scope, now)
    for name, group in timed.items():
        if scope.sound(("groups", name), "capacity", "drain"):
            yield from _block(site, name, group)


def _zoned(scope: Scope, name: str) -> bool:
    """Whether the zone in which the group's shifts are read is the file's own."""
    own = scope.groups[name].timezone is not None
    return scope.sound(("groups", name), "timezone") and (own or scope.sound(("site",), "timezone"))


def _sharing(site: Site, groups: dict[str, Group], scope: Scope, now: datetime) -> Iterator[Problem]:
    users = [user for user in volume_users(site, groups) if set(user.volumes) - _pools(scope)]
    if not any(_may_meet(one, two) for one, two in combinations(users, 2)):
        return
    for clash in conflicts(users, now):
        if clash.volume in _pools(scope):
            continue
        index = groups[clash.second].volumes.index(clash.volume)
        yield Problem(("groups", clash.second, "volumes", index), clash.says)


def _pools(scope: Scope) -> frozenset[str]:
    """Volumes with one writer each, and those that may be."""
    return frozenset(
        name
        for name, volume in scope.volumes.items()
        if volume.per == "node" or not scope.sound(("volumes", name), "per")
    )


def _may_meet(one: VolumeUser, two: VolumeUser) -> bool:
    """False where the week alone says that they do not: in one zone no clock change alters that."""
    if not set(one.volumes) & set(two.volumes):
        return False
    here, there = one.calendar, two.calendar
    both = _length((*here.shifts, *there.shifts))
    return here.zone != there.zone or both < _length(here.shifts) + _length(there.shifts)


def _length(shifts: tuple[Shift, ...]) -> int:
    """Minutes of the week in which they hold."""
    return sum(window.end - window.start for window in week_windows(shifts))


def _block(site: Site, name: str, group: Group) -> Iterator[Problem]:
    try:
        block = capacity_of(group)
    except ValueError:
        return
    if not isinstance(block, planned.CapacityBlock):
        return
    if block.starts and block.ends and block.ends <= block.starts:
        return
    drain = timedelta(minutes=minutes(group.drain))
    for why in block_problems(calendar_of(site, group), block, drain):
        yield Problem(
            ("groups", name, "capacity"), why.removeprefix(f"capacity block {block.reservation_id}: ")
        )

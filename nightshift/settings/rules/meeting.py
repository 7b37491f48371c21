"""Rules of time: groups that share a volume, and shifts against a capacity block."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from nightshift.plan import capacity as planned
from nightshift.plan import zones
from nightshift.plan.blocks import block_problems
from nightshift.plan.conflicts import conflicts
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
        for name, group in sorted(scope.groups.items())
        if zones.zone_problem(zone_of(site, group)) is None
    }
    yield from _sharing(site, timed, scope, now)
    for name, group in timed.items():
        yield from _block(site, name, group)


def _sharing(site: Site, groups: dict[str, Group], scope: Scope, now: datetime) -> Iterator[Problem]:
    for clash in conflicts(volume_users(site, groups), now):
        volume = scope.volumes.get(clash.volume)
        if volume is not None and volume.per == "node":
            continue
        index = groups[clash.second].volumes.index(clash.volume)
        yield Problem(("groups", clash.second, "volumes", index), clash.says)


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

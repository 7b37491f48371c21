"""Sites to play: recorded worlds with their stacks, small edits of them, a watch that only notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bootstrap.manifest import BootShift
from nightshift.plan.calendar import Override
from nightshift.plan.shifts import compile_actions
from nightshift.rehearsal.control.fleet import Fleet
from nightshift.rehearsal.control.model_fleet import ModelFleet
from nightshift.rehearsal.control.play import open_site, play, set_going
from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.control.state import GroupState, Node, VolumeState
from nightshift.rehearsal.story import Event
from nightshift.rehearsal.weeks import Plan
from nightshift.rehearsal.world.model import Group, ScheduledAction, SnapshotPolicy, World
from nightshift.settings import Stack
from nightshift.settings.to_plan import shifts_of, zone_of
from tests.rehearsal.support.record import recorded
from tests.rehearsal.support.stacks import shipped

MONDAY = int(datetime(2026, 12, 7, tzinfo=UTC).timestamp())
HOUR, DAY, WEEK = 3_600, 86_400, 604_800


class Noting:
    """A watch without rules: it keeps what it hears of sizes, and lets everything pass."""

    def __init__(self) -> None:
        self.sizes: dict[str, list[tuple[int, int]]] = {}

    def sized(self, site: Site, group: GroupState, why: str) -> None:
        """Kept."""
        self.sizes.setdefault(group.name, []).append((site.now, group.desired))

    def mounted(self, site: Site, volume: VolumeState, node: Node) -> None:
        """Nothing."""

    def unmounted(self, site: Site, volume: VolumeState, node: Node) -> None:
        """Nothing."""

    def resumed(self, site: Site, group: GroupState, node: Node, step: int) -> None:
        """Nothing."""

    def stopped(
        self, site: Site, group: GroupState, node: Node, step: int, kept: int, may_lose: int, planned: bool
    ) -> None:
        """Nothing."""

    def ended(self, site: Site, group: GroupState, node: Node) -> None:
        """Nothing."""

    def missed(self, site: Site, group: GroupState) -> None:
        """Nothing."""

    def reworded(self, site: Site, group: GroupState, override: Override) -> None:
        """Nothing."""

    def struck(self, site: Site, group: GroupState, kind: str, until: int) -> None:
        """Nothing."""

    def snapshots(self, site: Site, policy: SnapshotPolicy, due: int) -> None:
        """Nothing."""


def plan(weeks: float = 1, seed: int = 1, **other: Any) -> Plan:
    """From Monday 2026-12-07, 00:00 UTC."""
    return Plan(MONDAY, MONDAY + round(weeks * WEEK), seed, **other)


def played(
    world: World, *, days: float = 7, seed: int = 1, fleet: Fleet | None = None, late_s: int = 120
) -> Site:
    """The world after so many days, without faults or rules."""
    site = opened(world, days=days, seed=seed, fleet=fleet, late_s=late_s)
    play(site)
    return site


def opened(
    world: World, *, days: float = 7, seed: int = 1, fleet: Fleet | None = None, late_s: int = 120
) -> Site:
    """Set going, nothing played yet."""
    runs = fleet or ModelFleet(seed)
    site = open_site(world, runs, Noting(), seed=seed, start=MONDAY, end=MONDAY + round(days * DAY))
    site.late_most_s = late_s
    set_going(site)
    return site


def lab() -> tuple[Stack, World]:
    """The lab and its recorded world."""
    return shipped("lab"), recorded("lab")


def edited(world: World, group: str, **changes: Any) -> World:
    """The world with one group otherwise."""
    return replace(
        world,
        groups=tuple(replace(one, **changes) if one.manifest.group == group else one for one in world.groups),
    )


def group(world: World, name: str) -> Group:
    """A group by its short name."""
    return next(one for one in world.groups if one.manifest.group == name)


def told(site: Site, *kinds: str, group: str | None = None) -> list[Event]:
    """The events of these kinds, in order."""
    return [one for one in site.events if one.kind in kinds and group in (None, one.group)]


def as_declared(stack: Stack, world: World) -> World:
    """The world with the actions and manifests that the stack's shifts compile to, nothing else changed."""
    groups = []
    for one in world.groups:
        declared = stack.groups[one.manifest.group]
        zone = zone_of(stack.site, declared)
        actions = compile_actions(shifts_of(declared), zone, declared.nodes)
        shifts = tuple(BootShift(each.days, each.start, each.end) for each in declared.shifts)
        manifest = replace(one.manifest, shifts=shifts, timezone=zone, nodes=declared.nodes)
        groups.append(replace(one, actions=_scheduled(actions), manifest=manifest, most=declared.nodes))
    return replace(world, groups=tuple(groups))


def _scheduled(actions: Sequence[Any]) -> tuple[ScheduledAction, ...]:
    return tuple(
        ScheduledAction(each.name, each.recurrence, each.time_zone, each.desired) for each in actions
    )

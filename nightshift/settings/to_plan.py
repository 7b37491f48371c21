"""From the stack file's models to the plain values that `plan` decides on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING

from nightshift.plan import capacity as planned
from nightshift.plan.calendar import Calendar, Override
from nightshift.plan.conflicts import VolumeUser
from nightshift.plan.shifts import Shift
from nightshift.plan.volumes import VolumeSpec
from nightshift.settings.group import CapacityBlock, Group, Mix
from nightshift.settings.models import Stack
from nightshift.settings.site import OwnNetwork, Site

if TYPE_CHECKING:
    from nightshift.plan.forecast import GroupCost, VolumeCost


def minutes(duration: str) -> int:
    """`45m` or `2h` in minutes."""
    return int(duration[:-1]) * (60 if duration.endswith("h") else 1)


def clock(text: str) -> time:
    """`07:00` as a wall time."""
    return time(int(text[:2]), int(text[3:]))


def instant(text: str) -> datetime:
    """`2026-12-24T11:30Z`, aware. Raises ValueError for a day that no calendar has."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC)


def shifts_of(group: Group) -> tuple[Shift, ...]:
    """The group's shifts."""
    return tuple(Shift(shift.days, clock(shift.start), clock(shift.end)) for shift in group.shifts)


def zone_of(site: Site, group: Group) -> str:
    """The IANA zone in which the group's shifts are read."""
    return group.timezone or site.timezone


def calendar_of(site: Site, group: Group, override: Override | None = None) -> Calendar:
    """When the group is up."""
    return Calendar(shifts_of(group), zone_of(site, group), group.nodes, override)


def capacity_of(group: Group) -> planned.Capacity:
    """How the group buys. Raises ValueError for a capacity block whose times no calendar has."""
    wanted = group.capacity
    if isinstance(wanted, Mix):
        return planned.Mix(wanted.on_demand_base, wanted.on_demand_percent)
    if isinstance(wanted, CapacityBlock):
        starts = instant(wanted.starts) if wanted.starts else None
        return planned.CapacityBlock(wanted.capacity_block, starts, instant(wanted.ends))
    return planned.Spot() if wanted == "spot" else planned.OnDemand()


def capacity_plan(region: str, group: Group) -> planned.CapacityPlan:
    """What the group's template and policy say. Raises PlanError."""
    return planned.resolve(
        capacity_of(group),
        nodes=group.nodes,
        region=region,
        tier=group.tier,
        types=group.types or (),
        efa=group.efa,
    )


def users_of(stack: Stack, volume: str) -> tuple[str, ...]:
    """The groups that mount the volume."""
    return tuple(name for name, group in stack.groups.items() if volume in group.volumes)


def pool_size(stack: Stack, volume: str) -> int:
    """How many EBS volumes the name stands for: one, or one per node of its group."""
    if stack.volumes[volume].per == "site":
        return 1
    return max((stack.groups[name].nodes for name in users_of(stack, volume)), default=1)


def volume_specs(stack: Stack) -> tuple[VolumeSpec, ...]:
    """The declared volumes, to be matched with the live ones."""
    return tuple(
        VolumeSpec(name, volume.size_gib, pool_size(stack, name), volume.adopt, volume.source)
        for name, volume in stack.volumes.items()
    )


def volume_users(site: Site, groups: dict[str, Group]) -> tuple[VolumeUser, ...]:
    """The groups that mount volumes, with when they are up."""
    return tuple(
        VolumeUser(name, calendar_of(site, group), group.volumes)
        for name, group in groups.items()
        if group.volumes
    )


def group_costs(stack: Stack) -> tuple[GroupCost, ...]:
    """The groups as the forecast sees them. Nodes in a given subnet count as without a public address."""
    from nightshift.plan.forecast import GroupCost  # its prices would cost every check 6 ms

    own = isinstance(stack.site.network, OwnNetwork)
    return tuple(
        GroupCost(
            name,
            calendar_of(stack.site, group),
            capacity_plan(stack.region, group),
            group.root_gib,
            drain_minutes=minutes(group.drain),
            public_address=own,
            gpu_hours_monthly=group.gpu_hours_monthly,
        )
        for name, group in stack.groups.items()
    )


def volume_costs(stack: Stack) -> tuple[VolumeCost, ...]:
    """The volumes as the forecast sees them."""
    return tuple(_volume_costs(stack))


def _volume_costs(stack: Stack) -> Iterator[VolumeCost]:
    from nightshift.plan.forecast import VolumeCost  # see `group_costs`

    for name, volume in stack.volumes.items():
        policy = stack.snapshots[volume.snapshots] if volume.snapshots else None
        yield VolumeCost(
            name,
            volume.size_gib,
            pool_size(stack, name),
            volume.type,
            volume.iops,
            volume.throughput,
            policy.keep if policy else 0,
        )


def needs_nat(stack: Stack) -> bool:
    """Whether the own network has a private subnet, since some group's nodes have several interfaces."""
    own = isinstance(stack.site.network, OwnNetwork)
    return own and any(capacity_plan(stack.region, group).private_subnet for group in stack.groups.values())

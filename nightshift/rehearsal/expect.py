"""What the stack file promises of a span of time, by the plan: the yardstick of the invariants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from nightshift.settings.to_plan import calendar_of, minutes, zone_of

if TYPE_CHECKING:
    from nightshift.plan.calendar import Override
    from nightshift.settings.models import Stack

Span = tuple[int, int]
_AROUND = timedelta(days=9)


@dataclass(frozen=True)
class GroupExpect:
    """`windows`: when it is to be up with `nodes` nodes, also a week before and after the span. Seconds."""

    name: str
    zone: str
    nodes: int
    windows: tuple[Span, ...]
    boot_s: int
    drain_s: int


@dataclass(frozen=True)
class SnapshotExpect:
    """From `at_utc` on every `every_hours`, of each of `volumes`, the newest `keep`."""

    name: str
    at_utc: str
    every_hours: int
    keep: int
    volumes: tuple[str, ...]


@dataclass(frozen=True)
class Expect:
    """Everything that the rules compare with."""

    groups: Mapping[str, GroupExpect]
    snapshots: tuple[SnapshotExpect, ...]


def expect(stack: Stack, start: int, end: int) -> Expect:
    """The promises of the stack file for [start, end)."""
    return Expect(
        {name: _group(stack, name, start, end) for name in stack.groups},
        tuple(
            SnapshotExpect(name, policy.at_utc, policy.every_hours, policy.keep, _bearing(stack, name))
            for name, policy in sorted(stack.snapshots.items())
        ),
    )


def _bearing(stack: Stack, policy: str) -> tuple[str, ...]:
    return tuple(name for name, volume in stack.volumes.items() if volume.snapshots == policy)


def _group(stack: Stack, name: str, start: int, end: int) -> GroupExpect:
    group = stack.groups[name]
    return GroupExpect(
        name,
        zone_of(stack.site, group),
        group.nodes,
        windows(stack, name, start, end),
        60 * minutes(group.boot),
        60 * minutes(group.drain),
    )


def windows(
    stack: Stack, name: str, start: int, end: int, override: Override | None = None
) -> tuple[Span, ...]:
    """When the group is to be up, in whole seconds."""
    calendar = calendar_of(stack.site, stack.groups[name], override)
    low, high = (datetime.fromtimestamp(at, UTC) for at in (start, end))
    around = calendar.intervals(low - _AROUND, high + _AROUND)
    return tuple((int(first.timestamp()), int(last.timestamp())) for first, last in around)

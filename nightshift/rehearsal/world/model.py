"""The deployed site as plain values. All of it comes from AWS's own answers, none of it from the stack file.

Seconds, GiB and cron text as the API has them; instants are whole seconds since 1970, UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pydantic import TypeAdapter

from bootstrap.manifest import BootManifest

Transition = Literal["launching", "terminating"]
VERSION = 1


@dataclass(frozen=True)
class Hook:
    """A lifecycle hook. `default`: what happens when nobody answers within `heartbeat_s`."""

    name: str
    transition: Transition
    default: Literal["ABANDON", "CONTINUE"]
    heartbeat_s: int


@dataclass(frozen=True)
class ScheduledAction:
    """A size that it leaves is None; `start`/`end` bound its turns; without a recurrence it fires once."""

    name: str
    recurrence: str | None
    time_zone: str
    desired: int | None
    least: int | None = None
    most: int | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class ScalingPolicy:
    """A step policy whose single step sets the desired size to `exactly`."""

    arn: str
    name: str
    exactly: int


@dataclass(frozen=True)
class Metric:
    """One input of an alarm: of a group when `group` (its AWS name) is set."""

    id: str
    namespace: str
    name: str
    stat: str
    dimensions: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Alarm:
    """In alarm when `expression` is at least `threshold` in `needed` of the last `periods` periods."""

    name: str
    expression: str
    metrics: tuple[Metric, ...]
    threshold: float
    period_s: int
    periods: int
    needed: int
    missing: str
    actions: tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """An Auto Scaling group and what belongs to it. `name` is AWS's; `on_demand_base`/`_percent` as in a mix.

    `types` in the policy's order; `reservation` set: it buys from a capacity block.
    """

    name: str
    zone: str
    least: int
    most: int
    desired: int
    types: tuple[str, ...]
    on_demand_base: int
    on_demand_percent: int
    reservation: str | None
    root_gib: int
    public_address: bool
    suspended: tuple[str, ...]
    hooks: tuple[Hook, ...]
    actions: tuple[ScheduledAction, ...]
    policies: tuple[ScalingPolicy, ...]
    manifest: BootManifest


@dataclass(frozen=True)
class Volume:
    """A data volume with its tags. `index` only in pools."""

    id: str
    name: str
    index: int | None
    zone: str
    size_gib: int
    kind: str
    iops: int | None
    throughput: int | None
    snapshot: str
    tags: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SnapshotPolicy:
    """A policy on volumes that bear one of `targets`; from `at_utc` (HH:MM) on every `every_hours`."""

    id: str
    description: str
    enabled: bool
    targets: tuple[tuple[str, str], ...]
    at_utc: str
    every_hours: int
    keep: int


@dataclass(frozen=True)
class World:
    """One site as it stands."""

    site: str
    region: str
    groups: tuple[Group, ...]
    alarms: tuple[Alarm, ...]
    volumes: tuple[Volume, ...]
    policies: tuple[SnapshotPolicy, ...]
    nat_gateways: int = 0
    version: int = VERSION


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[World]:
    return TypeAdapter(World)


def to_json(world: World) -> str:
    """The world as JSON text."""
    return _adapter().dump_json(world, indent=1).decode() + "\n"


def from_json(text: str) -> World:
    """Read a world back; raises pydantic.ValidationError (a ValueError)."""
    return _adapter().validate_json(text)

"""Data Lifecycle Manager: snapshots of the volumes that bear a policy's tag; the oldest go."""

from __future__ import annotations

from datetime import UTC, datetime

from nightshift.rehearsal.control.dice import between
from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.control.state import VolumeState
from nightshift.rehearsal.control.timing import SNAPSHOT_WITHIN_S
from nightshift.rehearsal.world.model import SnapshotPolicy

_HOUR, _DAY = 3_600, 86_400


def follow(site: Site, policy: SnapshotPolicy) -> None:
    """Keep the policy's turns from the site's start on."""
    if policy.enabled:
        first = _first(policy, site.start)
        _next(site, policy, first, tuple(targets(site, policy)))


def targets(site: Site, policy: SnapshotPolicy) -> list[VolumeState]:
    """The volumes that bear one of its tags to the letter."""
    wanted = set(policy.targets)
    return [state for state in site.volumes.values() if wanted & set(state.volume.tags)]


def _first(policy: SnapshotPolicy, start: int) -> int:
    """Its first turn at or after `start`; always UTC."""
    hour, minute = (int(part) for part in policy.at_utc.split(":"))
    midnight = datetime.fromtimestamp(start, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    due, step = int(midnight.timestamp()) + hour * _HOUR + minute * 60, policy.every_hours * _HOUR
    due -= _DAY
    return due + -(-max(0, start - due) // step) * step


def _next(site: Site, policy: SnapshotPolicy, due: int, volumes: tuple[VolumeState, ...]) -> None:
    late = between(0, SNAPSHOT_WITHIN_S - 1, site.seed, "snapshot", policy.id, due)
    site.queue.at(due + late, _take, site, policy, due, volumes)


def _take(site: Site, policy: SnapshotPolicy, due: int, volumes: tuple[VolumeState, ...]) -> None:
    for state in volumes:
        state.snapshots.append(site.now)
        state.taken.append(site.now)
        del state.snapshots[: -policy.keep]
    taken = ", ".join(state.volume.name for state in volumes) or "no volume bears its tag"
    site.tell("snapshot", f"{policy.description}: {taken}")
    site.watch.snapshots(site, policy, due)
    _next(site, policy, due + policy.every_hours * _HOUR, volumes)

"""Snapshots of a volume, which of them to take, and the steps back to it. Decides only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from nightshift.cli.errors import CliError, UsageError
from nightshift.cli.verb_retire import RETIRED, Candidate
from nightshift.cli.when import ahead
from nightshift.plan import names
from nightshift.plan.instants import zone_of

if TYPE_CHECKING:
    from nightshift.settings.models import Stack

SLACK = timedelta(hours=3)
"""A policy begins within the hour after its time (DLM guide), and a snapshot takes a while to be whole."""


@dataclass(frozen=True)
class Snapshot:
    """One snapshot. `volume` is the id that it was made of, `by` what made it; `tier` as EC2 has it."""

    id: str
    began: datetime
    size_gib: int
    encrypted: bool
    state: str
    volume: str
    name: str
    index: int | None
    by: str
    tier: str = "standard"

    @property
    def usable(self) -> bool:
        """Whether a volume can be made of it now."""
        return self.state == "completed" and self.tier == "standard"


def read_snapshot(raw: Mapping[str, Any]) -> Snapshot:
    """One item of DescribeSnapshots."""
    tags = {str(tag["Key"]): str(tag["Value"]) for tag in raw.get("Tags", ())}
    index = tags.get(names.TAG_INDEX, "")
    made = "retire" if RETIRED in tags else "policy" if "aws:dlm:lifecycle-policy-id" in tags else "hand"
    return Snapshot(
        id=str(raw["SnapshotId"]),
        began=raw["StartTime"],
        size_gib=int(raw["VolumeSize"]),
        encrypted=bool(raw.get("Encrypted")),
        state=str(raw["State"]),
        volume=str(raw.get("VolumeId", "")),
        name=tags.get(names.TAG_VOLUME, ""),
        index=int(index) if index.isdecimal() else None,
        by=made,
        tier=str(raw.get("StorageTier", "standard")),
    )


@dataclass(frozen=True)
class Found:
    """What is there of a volume: live ones, its snapshots newest first."""

    volume: str
    live: Sequence[Candidate]
    snapshots: Sequence[Snapshot]

    def usable(self, index: int | None) -> list[Snapshot]:
        """Of this place in a pool, or of any."""
        return [one for one in self.snapshots if one.usable and index in (None, one.index or 0)]


def choose(found: Found, wanted: Snapshot | None, index: int | None) -> Snapshot:
    """The snapshot asked for, else the newest usable one. Raises CliError when it can't be used."""
    if wanted is not None:
        if wanted.usable:
            return wanted
        why = wanted.state if wanted.state != "completed" else f"in the {wanted.tier} tier"
        raise CliError(f"{wanted.id} is {why}: a volume is made of a completed one in the standard tier")
    usable = found.usable(index)
    indices = {one.index for one in usable}
    if len(indices) > 1:
        raise UsageError(f"{found.volume} is a pool: say --index or --snapshot for one of its volumes")
    if not usable:
        waiting = [one.id for one in found.snapshots if one.state == "pending"]
        more = f"; {', '.join(waiting)} isn't whole yet" if waiting else ""
        raise CliError(f"no usable snapshot of {found.volume}{more}")
    return usable[0]


def none_yet(stack: Stack, name: str) -> str:
    """When there will be one, where there is none."""
    volume = stack.volumes.get(name)
    if volume is None or volume.snapshots is None:
        return f"nothing could be restored now: volumes.{name} in the stack file names no snapshot policy"
    policy = stack.snapshots[volume.snapshots]
    return (
        f"nothing could be restored now: policy {volume.snapshots} takes its first one in the hour after "
        f"{policy.at_utc} UTC, on a day when it's deployed"
    )


def stale(stack: Stack, found: Found, index: int | None, now: datetime) -> str | None:
    """In words, when the newest snapshot of a live volume is older than its policy promises."""
    volume = stack.volumes.get(found.volume)
    if volume is None or volume.snapshots is None or not found.live:
        return None
    every = timedelta(hours=stack.snapshots[volume.snapshots].every_hours)
    usable = found.usable(index)
    if not usable or now - usable[0].began <= every + SLACK:
        return None
    return (
        f"the newest snapshot is {ahead(now - usable[0].began)} old; policy {volume.snapshots} makes one "
        f"every {ahead(every)}: look at it in the console, EC2, Lifecycle Manager"
    )


def users(stack: Stack, volume: str) -> list[str]:
    """The groups that mount it."""
    return [name for name, group in stack.groups.items() if volume in group.volumes]


def edit(stack: Stack, volume: str, chosen: Snapshot) -> list[str]:
    """The lines under `nightshift:volumes` that the stack file must have."""
    one = stack.volumes.get(volume)
    size = max(chosen.size_gib, one.size_gib if one else 0)
    lines = [f"{volume}:"]
    if one is None or size != one.size_gib:
        lines.append(f"  size_gib: {size}")
    if one is not None and one.adopt:
        lines.append(f"  # without its line adopt: {one.adopt}")
    return [*lines, f"  from: {chosen.id}"]


def steps(stack: Stack, found: Found, chosen: Snapshot, now: datetime) -> list[tuple[str, str]]:
    """What to do, in this order: (what for, the command; empty for the edit).

    A live volume is never replaced, so it has to go first; `retire` keeps what is on it. The engine learns
    that it is gone by a refresh.
    """
    stack_of, volume, groups = f"-s {stack.name}", found.volume, users(stack, found.volume)
    plan: list[tuple[str, str]] = []
    if groups:
        until = (now + timedelta(days=1)).astimezone(zone_of(stack.site.timezone))
        hold = f'nightshift hold {" ".join(groups)} --until "{until:%Y-%m-%d %H:%M}" {stack_of}'
        plan.append(("no node may take the volume meanwhile", hold))
    if any(one.node for one in found.live):
        plan.append(("wait until nothing holds it", f"nightshift status {stack_of}"))
    for one in found.live:
        which = f" --id {one.id}" if len(found.live) > 1 else ""
        plan.append(
            (
                "a last snapshot of what is on it now, then it goes",
                f"nightshift retire {volume}{which} {stack_of}",
            )
        )
    plan.append((f"in stacks/Pulumi.{stack.name}.yaml, under nightshift:volumes", ""))
    plan.append(("the engine notices that the old one is gone", f"pulumi refresh {stack_of} --yes"))
    plan.append(("the volume is made of the snapshot", f"pulumi up {stack_of}"))
    if groups:
        plan.append(("the shifts speak again", f"nightshift resume {' '.join(groups)} {stack_of}"))
    return plan

"""Snapshots of a volume, which of them to take, and the steps back to it. Decides only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from nightshift.cli import tagged
from nightshift.cli.errors import CliError, UsageError
from nightshift.cli.verb_retire import RETIRED, Candidate
from nightshift.cli.when import ahead
from nightshift.plan import names
from nightshift.plan.instants import UTC

if TYPE_CHECKING:
    from nightshift.settings.models import Stack

SLACK = timedelta(hours=3)
"""A policy begins within the hour after its time (DLM guide), and a snapshot takes a while to be whole."""


@dataclass(frozen=True)
class Snapshot:
    """One snapshot. `volume` is the id that it was made of, `by` what made it; `tier` as EC2 has it.

    `site`, `name` and `index` are its tags', empty and None without them.
    """

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
    site: str = ""

    @property
    def usable(self) -> bool:
        """Whether a volume can be made of it now."""
        return self.state == "completed" and self.tier == "standard"


def read_snapshot(raw: Mapping[str, Any]) -> Snapshot:
    """One item of DescribeSnapshots."""
    tags = tagged.tags_of(raw)
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
        site=tags.get(names.TAG_SITE, ""),
    )


@dataclass(frozen=True)
class Found:
    """What is there of a volume: live ones, its snapshots newest first. `pool`: one for each node."""

    volume: str
    live: Sequence[Candidate]
    snapshots: Sequence[Snapshot]
    pool: bool = False

    def usable(self, index: int | None) -> list[Snapshot]:
        """Of this place in a pool, or of any."""
        return [one for one in self.snapshots if one.usable and (index is None or self._at(one) == index)]

    def _at(self, one: Snapshot) -> int | None:
        return one.index if self.pool else one.index or 0

    def going(self, index: int | None) -> list[Candidate]:
        """The live ones that must go first: of a pool the one at this index alone."""
        return [one for one in self.live if not self.pool or one.index == index]

    def is_of(self, one: Snapshot, site: str) -> bool:
        """Whether the snapshot is of this volume: by its tags, or by the id of a live one."""
        return (one.site, one.name) == (site, self.volume) or one.volume in {each.id for each in self.live}


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
        which = found.volume if not found.pool or index is None else f"{found.volume} index {index}"
        raise CliError(f"no usable snapshot of {which}{more}")
    return usable[0]


def place(stack: Stack, found: Found, chosen: Snapshot, asked: int | None) -> int | None:
    """The index in the pool that is to be made of it; None for a volume of the site. Raises UsageError."""
    ours = found.is_of(chosen, stack.name)
    if not found.pool:
        return None
    if asked is None and (not ours or chosen.index is None):
        raise UsageError(f"{found.volume} is a pool, and {chosen.id} is of no index of it: say --index")
    if asked is not None and ours and chosen.index not in (None, asked):
        raise UsageError(
            f"--snapshot: {chosen.id} is of index {chosen.index} of {found.volume}, --index says {asked}: "
            "leave one of them out"
        )
    return chosen.index if asked is None else asked


def known_index(stack: Stack, found: Found, asked: int | None) -> None:
    """Raises UsageError for an index that the volume hasn't."""
    count = _count(stack, found.volume) if found.pool and found.volume in stack.volumes else None
    if asked is None or (found.pool and asked >= 0 and (count is None or asked < count)):
        return
    if found.pool and count is not None:
        raise UsageError(f"--index: given {asked}, {found.volume} has 0 to {count - 1} by the stack file")
    if found.pool or asked != 0:
        raise UsageError(
            f"--index: given {asked}, {found.volume} has none such: see the list without --index"
        )


def foreign(stack: Stack, found: Found, chosen: Snapshot) -> str | None:
    """In words, when the snapshot isn't of this volume of this site: of which one it is."""
    if found.is_of(chosen, stack.name):
        return None
    if not chosen.site and not chosen.name:
        return (
            f"{chosen.id} bears no site's tags: it is of {chosen.volume or 'a volume unknown'}, and nothing "
            f"says that it was ever {found.volume} of site {stack.name}"
        )
    index = "" if chosen.index is None else f" index {chosen.index}"
    site = f"site {chosen.site}" if chosen.site else "no site"
    return (
        f"{chosen.id} is of volume {chosen.name or 'without a name'}{index} of {site}, not of {found.volume} "
        f"of site {stack.name}"
    )


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
    if (
        volume is None
        or volume.snapshots is None
        or not (found.live if index is None else found.going(index))
    ):
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


def steps(
    stack: Stack, found: Found, chosen: Snapshot, index: int | None, now: datetime
) -> list[tuple[str, str]]:
    """What to do, in this order: (what for, the command; empty for the edit).

    A live volume is never replaced, so it has to go first; `retire` keeps what is on it. The engine learns
    that it is gone by a refresh. `from:` is for all of a pool, and makes those that aren't alive: so the
    others must be before it's written, and the line must go afterwards.
    """
    stack_of, groups = f"-s {stack.name}", users(stack, found.volume)
    others = absent(stack, found, index)
    going = found.going(index)
    plan: list[tuple[str, str]] = []
    if groups:
        until = f"{(now + timedelta(days=1)).astimezone(UTC):%Y-%m-%dT%H:%MZ}"
        hold = f"nightshift hold {' '.join(groups)} --until {until} {stack_of}"
        plan.append(("no node may take the volume meanwhile", hold))
    if others:
        listed = ", ".join(map(str, others))
        plan.append((f"index {listed} isn't alive either, and mustn't be made of it", _refresh(stack_of)))
        whole = f"so the pool is made whole first, while no from: {chosen.id} stands in the stack file"
        plan.append((whole, f"pulumi up {stack_of}"))
    if any(one.node for one in going):
        plan.append(("wait until nothing holds it", f"nightshift status {stack_of}"))
    plan += [
        ("a last snapshot of what is on it now, then it goes", one) for one in _retire(stack, found, index)
    ]
    plan.append((f"in stacks/Pulumi.{stack.name}.yaml, under nightshift:volumes", ""))
    plan.append(("the engine notices that the old one is gone", _refresh(stack_of)))
    plan.append(("the volume is made of the snapshot", f"pulumi up {stack_of}"))
    if groups:
        plan.append(("the shifts speak again", f"nightshift resume {' '.join(groups)} {stack_of}"))
    return plan


def afterwards(stack: Stack, found: Found) -> str | None:
    """The edit that ends the steps for one volume of a pool."""
    if not found.pool or found.volume not in stack.volumes:
        return None
    before = stack.volumes[found.volume].source
    back = f"write  from: {before}  again" if before else "take the line from: out again"
    return (
        f"then {back}: {found.volume} is a pool, and whichever of its volumes isn't alive at a `pulumi up` "
        "is made of what from: names"
    )


def absent(stack: Stack, found: Found, index: int | None) -> list[int]:
    """The other indices of the pool that aren't alive."""
    if not found.pool or found.volume not in stack.volumes:
        return []
    alive = {one.index for one in found.live}
    return [at for at in range(_count(stack, found.volume)) if at != index and at not in alive]


def _count(stack: Stack, volume: str) -> int:
    from nightshift.settings.to_plan import pool_size

    return pool_size(stack, volume)


def _refresh(stack_of: str) -> str:
    return f"pulumi refresh {stack_of} --yes"


def _retire(stack: Stack, found: Found, index: int | None) -> list[str]:
    """Each live one in the way; one that making the pool whole brings up has no id yet."""
    going = found.going(index)
    words = [f" --id {one.id}" if found.pool or len(going) > 1 else "" for one in going]
    if not going and absent(stack, found, index):
        words = [f" --index {index}"]
    return [f"nightshift retire {found.volume}{word} -s {stack.name}" for word in words]

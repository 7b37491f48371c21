"""Retire a volume: make a last snapshot, wait until it is whole, then delete the volume.

A run that was killed goes on where it stopped: the snapshot it made is found by its tag.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nightshift.cli import tagged
from nightshift.cli.answer import Answer
from nightshift.cli.context import Context
from nightshift.cli.errors import PROBLEM, CliError, UsageError
from nightshift.cli.text import wrap
from nightshift.plan import names

if TYPE_CHECKING:
    from nightshift.settings.models import Stack

RETIRED = "nightshift:retired"
"""On the snapshot: the id of the volume that it was made to outlive."""
_ALIVE = ("creating", "available", "in-use")
_POLL_S = 15


@dataclass(frozen=True)
class Candidate:
    """A live volume of the name; `node` holds it, None when free. `size_gib` in GiB."""

    id: str
    index: int
    size_gib: int
    zone: str
    node: str | None
    pooled: bool = False

    def label(self) -> str:
        """How people tell it from its likes."""
        held = f", on {self.node}" if self.node else ""
        return f"{self.id} (index {self.index}, {self.size_gib} GiB, {self.zone}{held})"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's own options."""
    parser.add_argument(
        "volume", metavar="VOLUME", help="name of the volume, also one the file no longer has"
    )
    parser.add_argument("--index", type=int, help="which one of a pool")
    parser.add_argument("--id", help="which one, where several are alive")
    parser.add_argument("--dry-run", action="store_true", help="show the steps, do none")
    parser.add_argument("-y", "--yes", action="store_true", help="don't ask before the volume is deleted")


def run(args: argparse.Namespace, here: Context) -> Answer:
    """Find it, ask, snapshot, wait, delete."""
    plain_name(args.volume)
    file = here.file(args.stack)
    stack = here.stack(file)
    ec2 = here.connect(file, stack).client("ec2")
    chosen = choose(args.volume, read_candidates(ec2, stack.name, args.volume), args.index, args.id)
    steps = f"{chosen.label()} of {args.volume}: make a last snapshot, then delete the volume"
    data: dict[str, object] = {"stack": stack.name, "volume": args.volume, "id": chosen.id, "snapshot": None}
    if args.dry_run:
        return Answer((*wrap(steps, 2), "dry run: nothing was changed"), {**data, "deleted": False})
    for line in wrap(f"{steps}; it is known to be whole before anything is deleted", 2):
        here.say(line)
    if not (args.yes or here.ask("Go on?")):
        return Answer(("nothing was changed",), {**data, "deleted": False}, PROBLEM)
    snapshot = snapshot_of(ec2, stack, args.volume, chosen)
    wait_whole(ec2, snapshot, here)
    _delete(ec2, chosen.id)
    return Answer(
        _told(stack, args.volume, chosen, snapshot), {**data, "snapshot": snapshot, "deleted": True}
    )


def plain_name(volume: str) -> None:
    """Raises UsageError for a word that can't name a volume: no answer of AWS is asked about it."""
    if problem := names.name_problem("VOLUME", volume):
        raise UsageError(problem)


def read_candidates(ec2: Any, site: str, volume: str) -> list[Candidate]:
    """Every live volume of exactly that name in the site."""
    wanted = {names.TAG_SITE: site, names.TAG_VOLUME: volume}
    filters = [*tagged.filters(wanted), {"Name": "status", "Values": list(_ALIVE)}]
    pages = ec2.get_paginator("describe_volumes").paginate(Filters=filters)
    found = [item for page in pages for item in page["Volumes"]]
    return [_candidate(item) for item in found if tagged.bears(item, wanted)]


def _candidate(item: Mapping[str, Any]) -> Candidate:
    tags = tagged.tags_of(item)
    holders = [str(held["InstanceId"]) for held in item.get("Attachments", [])]
    index = tags.get(names.TAG_INDEX, "0")
    return Candidate(
        str(item["VolumeId"]),
        int(index) if index.isdecimal() else 0,
        int(item["Size"]),
        str(item["AvailabilityZone"]),
        holders[0] if holders else None,
        names.TAG_INDEX in tags,
    )


def choose(volume: str, found: Sequence[Candidate], index: int | None, wanted: str | None) -> Candidate:
    """The one meant. Raises UsageError for none or several, CliError for one that a node holds."""
    fitting = [one for one in found if index in (None, one.index) and wanted in (None, one.id)]
    listed = "; ".join(one.label() for one in found)
    if not found:
        raise UsageError(
            f"no volume {volume} of this site is alive: see `nightshift status` for those that are"
        )
    if not fitting:
        raise UsageError(f"no such one; alive as {volume}: {listed}")
    if len(fitting) > 1:
        raise UsageError(f"{len(fitting)} are alive as {volume}: say --index or --id", listed)
    if fitting[0].node:
        raise CliError(f"{fitting[0].label()} is in use: `nightshift sleep` its group and wait for the drain")
    return fitting[0]


def snapshot_of(ec2: Any, stack: Stack, volume: str, chosen: Candidate) -> str:
    """The last snapshot: one that an earlier run made, or a new one."""
    wanted = {RETIRED: chosen.id}
    filters = [*tagged.filters(wanted), {"Name": "status", "Values": ["pending", "completed"]}]
    answer = ec2.describe_snapshots(OwnerIds=["self"], Filters=filters)
    made = [one for one in answer["Snapshots"] if tagged.bears(one, wanted) and one["VolumeId"] == chosen.id]
    if made:
        return str(made[0]["SnapshotId"])
    tags = names.common_tags(
        stack.name, f"retired-{volume}", stack.site.owner, f"nightshift-{stack.name}-{volume}"
    )
    tags |= {names.TAG_VOLUME: volume, RETIRED: chosen.id}
    tags |= {names.TAG_INDEX: str(chosen.index)} if chosen.pooled else {}
    pairs = [{"Key": key, "Value": value} for key, value in tags.items()]
    answer = ec2.create_snapshot(
        VolumeId=chosen.id,
        Description=f"Last of volume {volume} of site {stack.name}",
        TagSpecifications=[{"ResourceType": "snapshot", "Tags": pairs}],
    )
    return str(answer["SnapshotId"])


def wait_whole(ec2: Any, snapshot: str, here: Context, poll_s: float = _POLL_S) -> None:
    """Return once AWS calls it completed. Raises CliError when AWS gives it up."""
    shown = ""
    while True:
        found = ec2.describe_snapshots(SnapshotIds=[snapshot])["Snapshots"][0]
        if found["State"] == "completed":
            return
        if found["State"] in ("error", "recoverable", "recovering"):
            why = found.get("StateMessage", found["State"])
            raise CliError(
                f"snapshot {snapshot} failed ({why}): the volume was not deleted; run the verb again"
            )
        if (progress := str(found.get("Progress", ""))) != shown:
            here.say(f"snapshot {snapshot}: {progress or 'pending'}")
            shown = progress
        time.sleep(poll_s)


def _delete(ec2: Any, volume_id: str) -> None:
    """One that is gone already is as good as deleted."""
    try:
        ec2.delete_volume(VolumeId=volume_id)
    except ec2.exceptions.ClientError as error:
        if error.response["Error"]["Code"] != "InvalidVolume.NotFound":
            raise


def _told(stack: Stack, volume: str, chosen: Candidate, snapshot: str) -> tuple[str, ...]:
    lines = wrap(f"{chosen.id} is deleted; {snapshot} keeps what was on it, and costs until you delete it", 2)
    if volume in stack.volumes:
        anew = f"`pulumi refresh -s {stack.name}`, then `pulumi up`"
        lines += wrap(f"the file still names {volume}: {anew}, makes it anew and blank", 2)
        back = f"to have it back as it was, first write under volumes.{volume}:"
        lines += [*wrap(back, 2), f"  from: {snapshot}"]
    else:
        back = "to have it back, write under nightshift:volumes:"
        lines += [back, f"  {volume}: {{ size_gib: {chosen.size_gib}, from: {snapshot} }}"]
    return tuple(lines)

"""Everything that `status` shows, asked of AWS at the same time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from nightshift.cli.aws import Aws
from nightshift.cli.live import LiveGroup, read_groups
from nightshift.cli.tagged import tags_of
from nightshift.plan import names
from nightshift.records.errors import Unreadable
from nightshift.records.model import OverrideRecord, ReadinessRecord, RunRecord
from nightshift.records.store import Records

if TYPE_CHECKING:
    from nightshift.settings.models import Stack

_ACTIVITIES = 30
_WORKERS = 12
TAG_REASON = "nightshift:reason"
_IDLE = re.compile(r"all cards under \d+ % for [0-9.e+]+ minutes")


@dataclass(frozen=True)
class Machine:
    """An EC2 instance behind a node. `idle`: what it says of its idle cards; empty when they work."""

    state: str
    launched: datetime
    buying: str
    idle: str = ""


@dataclass(frozen=True)
class FailedLaunch:
    """The newest launch that AWS couldn't make; `since_then` is whether a later one succeeded."""

    at: datetime
    why: str
    since_then: bool


@dataclass(frozen=True)
class Disk:
    """A persistent volume of the site."""

    id: str
    name: str
    index: str | None
    size_gib: int
    state: str
    node: str | None


@dataclass(frozen=True)
class Spoken:
    """The records; `unreadable` are those that couldn't be understood, in words."""

    overrides: Mapping[str, OverrideRecord] = field(default_factory=dict)
    runs: Mapping[str, RunRecord] = field(default_factory=dict)
    readiness: Mapping[str, ReadinessRecord] = field(default_factory=dict)
    unreadable: Sequence[str] = ()


@dataclass(frozen=True)
class StatusFacts:
    """What stands in AWS at `now`."""

    account: str
    now: datetime
    groups: Mapping[str, LiveGroup] = field(default_factory=dict)
    machines: Mapping[str, Machine] = field(default_factory=dict)
    failed: Mapping[str, FailedLaunch] = field(default_factory=dict)
    volumes: Sequence[Disk] = ()
    spoken: Spoken = Spoken()


def gather(aws: Aws, stack: Stack, now: datetime) -> StatusFacts:
    """Two rounds of parallel reads: what is there, then what hangs on it."""
    asgs = {group: names.group_name(stack.name, group) for group in stack.groups}
    scaling, ec2 = aws.client("autoscaling"), aws.client("ec2")
    with ThreadPoolExecutor(_WORKERS) as pool:
        account = pool.submit(aws.account)
        reading = pool.submit(read_groups, scaling, asgs)
        volumes = pool.submit(read_volumes, ec2, stack.name)
        machines = pool.submit(read_machines, ec2, stack.name)
        records, groups = aws.records(stack.name, account.result()), reading.result()
        failed = {name: pool.submit(read_failed, scaling, one.asg) for name, one in groups.items()}
        spoken = read_spoken(pool, records, list(stack.groups), _node_ids(groups))
        return StatusFacts(
            account=account.result(),
            now=now,
            groups=groups,
            machines=machines.result(),
            failed={name: found for name, one in failed.items() if (found := one.result())},
            volumes=volumes.result(),
            spoken=spoken,
        )


def read_spoken(pool: ThreadPoolExecutor, records: Records, groups: list[str], nodes: set[str]) -> Spoken:
    """The records of the groups and of the nodes; a damaged one is named and harms no other."""
    notes: list[str] = []
    overrides = {name: pool.submit(_override, records, name, notes) for name in groups}
    runs = {name: pool.submit(_run, records, name, notes) for name in groups}
    verdicts = records.readiness(nodes) if nodes else {}
    notes += [str(verdict) for verdict in verdicts.values() if isinstance(verdict, Unreadable)]
    return Spoken(
        overrides={name: found for name, one in overrides.items() if (found := one.result())},
        runs={name: found for name, one in runs.items() if (found := one.result())},
        readiness={node: one for node, one in verdicts.items() if isinstance(one, ReadinessRecord)},
        unreadable=tuple(sorted(notes)),
    )


def _node_ids(groups: Mapping[str, LiveGroup]) -> set[str]:
    return {node.id for group in groups.values() for node in group.nodes}


def _override(records: Records, group: str, notes: list[str]) -> OverrideRecord | None:
    try:
        return records.override(group).record
    except Unreadable as error:
        notes.append(str(error))
        return None


def _run(records: Records, group: str, notes: list[str]) -> RunRecord | None:
    try:
        return records.run(group)
    except Unreadable as error:
        notes.append(str(error))
        return None


def read_volumes(ec2: Any, site: str) -> tuple[Disk, ...]:
    """The site's persistent volumes, by its tags."""
    wanted = [
        {"Name": f"tag:{names.TAG_SITE}", "Values": [site]},
        {"Name": "tag-key", "Values": [names.TAG_VOLUME]},
    ]
    pages = ec2.get_paginator("describe_volumes").paginate(Filters=wanted)
    found = [_disk(raw) for page in pages for raw in page["Volumes"]]
    return tuple(sorted(found, key=lambda disk: (disk.name, disk.index or "", disk.id)))


def _disk(raw: Any) -> Disk:
    tags = tags_of(raw)
    attached = [one["InstanceId"] for one in raw.get("Attachments", ()) if one.get("State") != "detached"]
    return Disk(
        id=raw["VolumeId"],
        name=tags.get(names.TAG_VOLUME, "?"),
        index=tags.get(names.TAG_INDEX),
        size_gib=raw["Size"],
        state=raw["State"],
        node=attached[0] if attached else None,
    )


def read_machines(ec2: Any, site: str) -> dict[str, Machine]:
    """The site's instances by id; AWS shows ended ones for about an hour."""
    wanted = [{"Name": f"tag:{names.TAG_SITE}", "Values": [site]}]
    pages = ec2.get_paginator("describe_instances").paginate(Filters=wanted)
    return {
        raw["InstanceId"]: Machine(
            raw["State"]["Name"],
            raw["LaunchTime"],
            raw.get("InstanceLifecycle", "on-demand"),
            idle_of(tags_of(raw)),
        )
        for page in pages
        for reservation in page["Reservations"]
        for raw in reservation["Instances"]
    }


def idle_of(tags: Mapping[str, str]) -> str:
    """The idle verdict that a node wrote on itself as its reason; it writes another one once cards work."""
    reason = tags.get(TAG_REASON, "")
    return reason if _IDLE.fullmatch(reason) else ""


def read_failed(scaling: Any, asg: str) -> FailedLaunch | None:
    """The newest failed launch among the group's last activities, newest first as AWS lists them."""
    answer = scaling.describe_scaling_activities(AutoScalingGroupName=asg, MaxRecords=_ACTIVITIES)
    succeeded = False
    for raw in answer["Activities"]:
        if not raw.get("Description", "").startswith("Launching"):
            continue
        if raw["StatusCode"] in {"Failed", "Cancelled"}:
            why = raw.get("StatusMessage") or raw.get("Cause") or "no reason given"
            return FailedLaunch(raw["StartTime"], why, succeeded)
        succeeded = succeeded or raw["StatusCode"] == "Successful"
    return None

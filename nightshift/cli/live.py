"""The groups as AWS has them now, read by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from nightshift.cli.aws import together

_NAMES_A_CALL = 50
"""DescribeAutoScalingGroups takes as many names at most."""


@dataclass(frozen=True)
class LiveAction:
    """A scheduled action. `start` is its next turn, UTC; a one-off has no recurrence."""

    name: str
    recurrence: str | None
    time_zone: str | None
    desired: int | None
    start: datetime | None


@dataclass(frozen=True)
class LiveNode:
    """A member of a group. `state` is its lifecycle state, such as InService or Pending:Wait."""

    id: str
    type: str
    zone: str
    state: str
    healthy: bool


@dataclass(frozen=True)
class LiveGroup:
    """A group that exists. `suspended` maps a process to AWS's reason."""

    name: str
    asg: str
    desired: int
    nodes: tuple[LiveNode, ...] = ()
    suspended: Mapping[str, str] = field(default_factory=dict)
    actions: Mapping[str, LiveAction] = field(default_factory=dict)


def read_groups(client: Any, asgs: Mapping[str, str]) -> dict[str, LiveGroup]:
    """The groups that exist, keyed as in `asgs` (group -> Auto Scaling group), with their actions."""
    listed = list(asgs.values())
    chunks = [listed[at : at + _NAMES_A_CALL] for at in range(0, len(listed), _NAMES_A_CALL)]
    pages = together([lambda chunk=chunk: _describe(client, chunk) for chunk in chunks])
    found = {raw["AutoScalingGroupName"]: raw for page in pages for raw in page}
    alive = {group: found[asg] for group, asg in asgs.items() if asg in found}
    actions = together([lambda asg=asgs[group]: _actions(client, asg) for group in alive])
    pairs = zip(alive.items(), actions, strict=True)
    return {group: _group(group, raw, each) for (group, raw), each in pairs}


def _describe(client: Any, asgs: Sequence[str]) -> list[Any]:
    pages = client.get_paginator("describe_auto_scaling_groups").paginate(AutoScalingGroupNames=list(asgs))
    return [raw for page in pages for raw in page["AutoScalingGroups"]]


def _actions(client: Any, asg: str) -> dict[str, LiveAction]:
    pages = client.get_paginator("describe_scheduled_actions").paginate(AutoScalingGroupName=asg)
    return {
        raw["ScheduledActionName"]: LiveAction(
            name=raw["ScheduledActionName"],
            recurrence=raw.get("Recurrence"),
            time_zone=raw.get("TimeZone"),
            desired=raw.get("DesiredCapacity"),
            start=raw.get("StartTime"),
        )
        for page in pages
        for raw in page["ScheduledUpdateGroupActions"]
    }


def _group(name: str, raw: Any, actions: Mapping[str, LiveAction]) -> LiveGroup:
    return LiveGroup(
        name=name,
        asg=raw["AutoScalingGroupName"],
        desired=raw["DesiredCapacity"],
        nodes=tuple(
            LiveNode(
                id=node["InstanceId"],
                type=node.get("InstanceType", "?"),
                zone=node["AvailabilityZone"],
                state=node["LifecycleState"],
                healthy=node["HealthStatus"].lower() == "healthy",
            )
            for node in raw.get("Instances", ())
        ),
        suspended={
            one["ProcessName"]: one.get("SuspensionReason", "") for one in raw.get("SuspendedProcesses", ())
        },
        actions=actions,
    )

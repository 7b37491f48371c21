"""One Auto Scaling group: sizes, types, hooks, actions, policies, root disk, its nodes' manifest."""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from cronsim import CronSim

from bootstrap.manifest import BootManifest, ManifestError, from_json
from nightshift.rehearsal.clients import Clients, listed
from nightshift.rehearsal.world.errors import Unplayable
from nightshift.rehearsal.world.model import Group, Hook, ScalingPolicy, ScheduledAction, Transition

_TRANSITIONS: Mapping[str, Transition] = {
    "autoscaling:EC2_INSTANCE_LAUNCHING": "launching",
    "autoscaling:EC2_INSTANCE_TERMINATING": "terminating",
}
_TOLD = re.compile(r"^node='.*$", re.MULTILINE)


def read_group(raw: Mapping[str, Any], clients: Clients, now: int, problems: list[str]) -> Group:
    """The group of a DescribeAutoScalingGroups answer. What can't be played goes to `problems`."""
    scaling, name = clients("autoscaling"), raw["AutoScalingGroupName"]
    mixed = raw.get("MixedInstancesPolicy")
    distribution = (mixed or {}).get("InstancesDistribution", {})
    template = template_of(raw, clients("ec2"))
    hooks = scaling.describe_lifecycle_hooks(AutoScalingGroupName=name)["LifecycleHooks"]
    actions = listed(
        scaling, "describe_scheduled_actions", "ScheduledUpdateGroupActions", AutoScalingGroupName=name
    )
    policies = listed(scaling, "describe_policies", "ScalingPolicies", AutoScalingGroupName=name)
    return Group(
        name=name,
        zone=raw["AvailabilityZones"][0],
        least=raw["MinSize"],
        most=raw["MaxSize"],
        desired=raw["DesiredCapacity"],
        types=types_of(mixed, template),
        on_demand_base=distribution.get("OnDemandBaseCapacity", 0),
        on_demand_percent=distribution.get("OnDemandPercentageAboveBaseCapacity", 100),
        reservation=_reservation(template),
        root_gib=_root_gib(template),
        public_address=_public(template),
        suspended=tuple(sorted(one["ProcessName"] for one in raw.get("SuspendedProcesses", ()))),
        hooks=tuple(hook_of(one) for one in sorted(hooks, key=lambda one: one["LifecycleHookName"])),
        actions=tuple(
            action_of(one, now) for one in sorted(actions, key=lambda one: one["ScheduledActionName"])
        ),
        policies=tuple(policies_of(policies, name, problems)),
        manifest=_manifest(name, template, clients("s3")),
    )


def hook_of(raw: Mapping[str, Any]) -> Hook:
    """A lifecycle hook."""
    return Hook(
        raw["LifecycleHookName"],
        _TRANSITIONS[raw["LifecycleTransition"]],
        raw.get("DefaultResult", "ABANDON"),
        int(raw["HeartbeatTimeout"]),
    )


def action_of(raw: Mapping[str, Any], now: int) -> ScheduledAction:
    """A scheduled action. AWS shows its next turn as its start: that one bounds nothing and is left out."""
    recurrence, zone = raw.get("Recurrence"), raw.get("TimeZone") or "Etc/UTC"
    start = _instant(raw.get("StartTime"))
    if recurrence and start is not None and start <= _next_turn(recurrence, zone, now):
        start = None
    return ScheduledAction(
        name=raw["ScheduledActionName"],
        recurrence=recurrence,
        time_zone=zone,
        desired=raw.get("DesiredCapacity"),
        least=raw.get("MinSize"),
        most=raw.get("MaxSize"),
        start=start,
        end=_instant(raw.get("EndTime")),
    )


def _next_turn(recurrence: str, zone: str, now: int) -> int:
    local = datetime.fromtimestamp(now, UTC).astimezone(ZoneInfo(zone))
    return int(next(CronSim(recurrence, local)).timestamp())


def _instant(raw: datetime | None) -> int | None:
    return None if raw is None else int(raw.timestamp())


def policies_of(raw: Any, group: str, problems: list[str]) -> Iterator[ScalingPolicy]:
    """Step policies that set an exact size; others aren't played."""
    for one in sorted(raw, key=lambda each: each["PolicyName"]):
        steps = one.get("StepAdjustments", ())
        if one.get("AdjustmentType") != "ExactCapacity" or len(steps) != 1:
            problems.append(f"{group}: policy {one['PolicyName']}: only one step to an exact size is played")
            continue
        yield ScalingPolicy(one["PolicyARN"], one["PolicyName"], steps[0]["ScalingAdjustment"])


def types_of(mixed: Mapping[str, Any] | None, template: Mapping[str, Any]) -> tuple[str, ...]:
    """The policy's types in their order, or the template's one."""
    overrides = (mixed or {}).get("LaunchTemplate", {}).get("Overrides", ())
    return tuple(one["InstanceType"] for one in overrides) or (template["InstanceType"],)


def template_of(raw: Mapping[str, Any], ec2: Any) -> Mapping[str, Any]:
    """The version of the launch template that the group starts nodes from."""
    policy = (raw.get("MixedInstancesPolicy") or {}).get("LaunchTemplate", {})
    chosen = policy.get("LaunchTemplateSpecification") or raw.get("LaunchTemplate") or {}
    answer = ec2.describe_launch_template_versions(
        LaunchTemplateId=chosen["LaunchTemplateId"], Versions=[chosen["Version"]]
    )
    return answer["LaunchTemplateVersions"][0]["LaunchTemplateData"]


def _reservation(template: Mapping[str, Any]) -> str | None:
    target = template.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget", {})
    return target.get("CapacityReservationId")


def _root_gib(template: Mapping[str, Any]) -> int:
    return sum(one.get("Ebs", {}).get("VolumeSize", 0) for one in template.get("BlockDeviceMappings", ()))


def _public(template: Mapping[str, Any]) -> bool:
    return any(one.get("AssociatePublicIpAddress") for one in template.get("NetworkInterfaces", ()))


def _manifest(group: str, template: Mapping[str, Any], s3: Any) -> BootManifest:
    """As a node gets it: the user data say where, the bucket has it."""
    line = _TOLD.search(base64.b64decode(template["UserData"]).decode())
    if line is None:
        raise Unplayable(f"{group}: its user data name no boot manifest")
    told = json.loads(shlex.split(line[0])[0].removeprefix("node="))
    try:
        body = s3.get_object(Bucket=told["bucket"], Key=told["manifest_key"])["Body"].read()
        return from_json(body.decode())
    except (s3.exceptions.ClientError, ManifestError) as error:
        raise Unplayable(
            f"{group}: {told['manifest_key']} in {told['bucket']} is no boot manifest: {error}"
        ) from error

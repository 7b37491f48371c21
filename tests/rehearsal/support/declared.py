"""The world that the program declares, without an engine: what it registers, as AWS would say it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bootstrap.manifest import from_json
from nightshift.rehearsal.world.model import (
    Alarm,
    Group,
    Hook,
    Metric,
    ScalingPolicy,
    ScheduledAction,
    SnapshotPolicy,
    Transition,
    Volume,
    World,
)
from nightshift.settings import Stack
from tests.infra.conftest import FIRST_USED
from tests.infra.recorder import Recorder
from tests.infra.support.samples import declare

QUIET = FIRST_USED
"""pulumi_aws warns of its own names while it is first used; the import has used them."""
_TRANSITIONS: dict[str, Transition] = {
    "autoscaling:EC2_INSTANCE_LAUNCHING": "launching",
    "autoscaling:EC2_INSTANCE_TERMINATING": "terminating",
}


def declared_world(stack: Stack) -> World:
    """Run the program under the recorder and read what it registered."""
    recorder = declare(stack)
    groups = tuple(_group(recorder, stack, one.inputs) for one in recorder.all("autoscaling/group:Group"))
    return World(
        site=stack.name,
        region=stack.region,
        groups=tuple(sorted(groups, key=lambda group: group.name)),
        alarms=tuple(_alarms(recorder)),
        volumes=tuple(_volumes(recorder)),
        policies=tuple(_policies(recorder)),
        nat_gateways=len(recorder.all("NatGateway")),
    )


def _of(recorder: Recorder, kind: str, group: str) -> list[dict[str, Any]]:
    return [one.inputs for one in recorder.all(kind) if one.inputs["autoscalingGroupName"] == group]


def _group(recorder: Recorder, stack: Stack, raw: dict[str, Any]) -> Group:
    name = raw["name"]
    mixed = raw.get("mixedInstancesPolicy") or {}
    distribution = mixed.get("instancesDistribution", {})
    template = recorder.one("LaunchTemplate", f"{name.partition('.')[2]}-template").inputs
    overrides = mixed.get("launchTemplate", {}).get("overrides", ())
    target = template.get("capacityReservationSpecification", {}).get("capacityReservationTarget", {})
    return Group(
        name=name,
        zone=stack.site.zone,
        least=int(raw["minSize"]),
        most=int(raw["maxSize"]),
        desired=0,
        types=tuple(one["instanceType"] for one in overrides) or (template["instanceType"],),
        on_demand_base=int(distribution.get("onDemandBaseCapacity", 0)),
        on_demand_percent=int(distribution.get("onDemandPercentageAboveBaseCapacity", 100)),
        reservation=target.get("capacityReservationId"),
        root_gib=sum(int(one["ebs"]["volumeSize"]) for one in template["blockDeviceMappings"]),
        public_address=any(
            one.get("associatePublicIpAddress") == "true" for one in template["networkInterfaces"]
        ),
        suspended=(),
        hooks=tuple(_hook(one) for one in _of(recorder, "LifecycleHook", name)),
        actions=tuple(_action(one) for one in _of(recorder, "Schedule", name)),
        policies=tuple(
            ScalingPolicy("arn:policy", one["name"], int(one["stepAdjustments"][0]["scalingAdjustment"]))
            for one in _of(recorder, "autoscaling/policy:Policy", name)
        ),
        manifest=from_json(_manifest(recorder, name.partition(".")[2])),
    )


def _manifest(recorder: Recorder, group: str) -> str:
    key = f"groups/{group}/manifest.json"
    objects = (one.inputs for one in recorder.all("BucketObjectv2"))
    return next(one["content"] for one in objects if one["key"] == key)


def _hook(raw: dict[str, Any]) -> Hook:
    transition = _TRANSITIONS[raw["lifecycleTransition"]]
    return Hook(raw["name"], transition, raw["defaultResult"], int(raw["heartbeatTimeout"]))


def _action(raw: dict[str, Any]) -> ScheduledAction:
    sizes = [int(raw[key]) for key in ("desiredCapacity", "minSize", "maxSize")]
    desired, least, most = (None if size == -1 else size for size in sizes)
    return ScheduledAction(
        raw["scheduledActionName"], raw["recurrence"], raw["timeZone"], desired, least, most
    )


def _alarms(recorder: Recorder) -> Iterator[Alarm]:
    for one in sorted((one.inputs for one in recorder.all("MetricAlarm")), key=lambda raw: raw["name"]):
        queries = one["metricQueries"]
        asked = next(query for query in queries if query["returnData"])
        inputs = sorted((query for query in queries if "metric" in query), key=lambda query: query["id"])
        yield Alarm(
            one["name"],
            asked.get("expression") or asked["id"],
            tuple(_metric(query) for query in inputs),
            float(one["threshold"]),
            int(inputs[0]["metric"]["period"]),
            int(one["evaluationPeriods"]),
            int(one["datapointsToAlarm"]),
            one["treatMissingData"],
            tuple(one["alarmActions"]),
        )


def _metric(query: dict[str, Any]) -> Metric:
    raw = query["metric"]
    dimensions = tuple(sorted(raw["dimensions"].items()))
    return Metric(query["id"], raw["namespace"], raw["metricName"], raw["stat"], dimensions)


def _volumes(recorder: Recorder) -> Iterator[Volume]:
    for one in recorder.all("ebs/volume:Volume"):
        raw, tags = one.inputs, one.inputs["tags"]
        index = tags.get("nightshift:index")
        yield Volume(
            id=one.id,
            name=tags["nightshift:volume"],
            index=None if index is None else int(index),
            zone=raw["availabilityZone"],
            size_gib=int(raw["size"]),
            kind=raw["type"],
            iops=int(raw["iops"]) if raw.get("iops") else None,
            throughput=int(raw["throughput"]) if raw.get("throughput") else None,
            snapshot=raw.get("snapshotId") or "",
            tags=tuple(sorted(tags.items())),
        )


def _policies(recorder: Recorder) -> Iterator[SnapshotPolicy]:
    for one in recorder.all("LifecyclePolicy"):
        details = one.inputs["policyDetails"]
        schedule = details["schedules"][0]
        yield SnapshotPolicy(
            id=one.id,
            description=one.inputs["description"],
            enabled=one.inputs["state"] == "ENABLED",
            targets=tuple(sorted(details["targetTags"].items())),
            at_utc=schedule["createRule"]["times"],
            every_hours=int(schedule["createRule"]["interval"]),
            keep=int(schedule["retainRule"]["count"]),
        )

"""Scaling policies, unique per group, and their execution. moto keys them by name alone and ignores steps."""

from __future__ import annotations

import math
from typing import Any

from nightshift.emulator.cloud import ACCOUNT
from nightshift.emulator.cloud.call import AwsError, Call
from nightshift.emulator.cloud.services.backends import need_group
from nightshift.emulator.cloud.state import STATE, Handlers, Patch

KEPT = (
    "PolicyType",
    "AdjustmentType",
    "MinAdjustmentStep",
    "MinAdjustmentMagnitude",
    "ScalingAdjustment",
    "Cooldown",
    "StepAdjustments",
    "MetricAggregationType",
    "EstimatedInstanceWarmup",
    "TargetTrackingConfiguration",
    "PredictiveScalingConfiguration",
    "Enabled",
)


def _put(call: Call) -> dict[str, Any]:
    group, name = need_group(call.region, call.params["AutoScalingGroupName"]), call.params["PolicyName"]
    row = {key: call.params[key] for key in KEPT if call.params.get(key) is not None}
    row.setdefault("PolicyType", "SimpleScaling")
    row.setdefault("Enabled", True)
    if row["PolicyType"] == "StepScaling":
        row.setdefault("MetricAggregationType", "Average")
    old = STATE.scaling_policies[call.region].get((group.name, name))
    arn = f"arn:aws:autoscaling:{call.region}:{ACCOUNT}:scalingPolicy:{group._id}"
    row |= {
        "AutoScalingGroupName": group.name,
        "PolicyName": name,
        "PolicyARN": old["PolicyARN"]
        if old
        else f"{arn}:autoScalingGroupName/{group.name}:policyName/{name}",
        "Alarms": [],
    }
    STATE.scaling_policies[call.region][(group.name, name)] = row
    return {"PolicyARN": row["PolicyARN"], "Alarms": []}


def _describe(call: Call) -> dict[str, Any]:
    group, names = call.params.get("AutoScalingGroupName"), call.params.get("PolicyNames")
    kinds = call.params.get("PolicyTypes")
    rows = [
        row
        for row in STATE.scaling_policies[call.region].values()
        if (not group or row["AutoScalingGroupName"] == group)
        and (not names or row["PolicyName"] in names or row["PolicyARN"] in names)
        and (not kinds or row["PolicyType"] in kinds)
    ]
    return {"ScalingPolicies": rows}


def _find(call: Call) -> dict[str, Any]:
    group, name = call.params.get("AutoScalingGroupName"), call.params["PolicyName"]
    for row in STATE.scaling_policies[call.region].values():
        if name == row["PolicyARN"] or (
            name == row["PolicyName"] and group in {None, row["AutoScalingGroupName"]}
        ):
            return row
    raise AwsError("ValidationError", "PolicyName not found")


def _delete(call: Call) -> None:
    row = _find(call)
    del STATE.scaling_policies[call.region][(row["AutoScalingGroupName"], row["PolicyName"])]


def adjustment(row: dict[str, Any], distance: float | None) -> int | None:
    """The policy's number for a metric this far from the alarm's threshold; None when no step covers it."""
    if row["PolicyType"] == "SimpleScaling":
        return row.get("ScalingAdjustment")
    for step in row.get("StepAdjustments", ()):
        low, high = step.get("MetricIntervalLowerBound"), step.get("MetricIntervalUpperBound")
        inside = (
            distance is not None and (low is None or distance >= low) and (high is None or distance < high)
        )
        if inside:
            return step["ScalingAdjustment"]
    return None


def desired_after(row: dict[str, Any], desired: int, distance: float | None) -> int:
    """Desired capacity after a policy ran, before the group's bounds."""
    change = adjustment(row, distance)
    if change is None:
        return desired
    if row.get("AdjustmentType") == "ExactCapacity":
        return change
    if row.get("AdjustmentType") == "PercentChangeInCapacity":
        share = desired * change / 100
        rounded = math.copysign(max(1, math.floor(abs(share))), share) if share else 0
        return desired + int(rounded)
    return desired + change


def _execute(call: Call) -> None:
    row = _find(call)
    group = need_group(call.region, row["AutoScalingGroupName"])
    value, threshold = call.params.get("MetricValue"), call.params.get("BreachThreshold")
    distance = None if value is None or threshold is None else value - threshold
    wanted = desired_after(row, group.desired_capacity, distance)
    group.set_desired_capacity(max(group.min_size, min(group.max_size, wanted)))


HANDLERS: Handlers = {
    ("autoscaling", "PutScalingPolicy"): _put,
    ("autoscaling", "DescribePolicies"): _describe,
    ("autoscaling", "DeletePolicy"): _delete,
    ("autoscaling", "ExecutePolicy"): _execute,
}
PATCHES: tuple[Patch, ...] = ()

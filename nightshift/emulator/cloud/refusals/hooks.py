"""Refusals of lifecycle hooks."""

from __future__ import annotations

from typing import Any

from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.refusals.row import API, ASG_GUIDE, Row
from nightshift.emulator.cloud.services.backends import find_group
from nightshift.emulator.cloud.services.waits import LAUNCHING, TERMINATING
from nightshift.emulator.cloud.state import STATE

SHORTEST, LONGEST = 30, 7200
LIMIT = 50


def hooks(call: Call) -> list[dict[str, Any]]:
    """The hooks of a put, or of a group's creation."""
    if call.name == "PutLifecycleHook":
        return [call.params]
    return call.params.get("LifecycleHookSpecificationList") or []


def _heartbeat(call: Call) -> str | None:
    for hook in hooks(call):
        beat = hook.get("HeartbeatTimeout")
        if beat is not None and not SHORTEST <= beat <= LONGEST:
            return f"Heartbeat timeout must be between {SHORTEST} and {LONGEST} seconds"
    return None


def _missing_group(call: Call) -> str | None:
    if find_group(call.region, call.params["AutoScalingGroupName"]) is None:
        return "AutoScalingGroup name not found - null"
    return None


def _too_many(call: Call) -> str | None:
    group = call.params["AutoScalingGroupName"]
    names = {name for owner, name in STATE.hooks[call.region] if owner == group}
    names |= {hook["LifecycleHookName"] for hook in hooks(call)}
    if len(names) > LIMIT:
        return f"A maximum of {LIMIT} lifecycle hooks are allowed per Auto Scaling group."
    return None


def _transition(call: Call) -> str | None:
    group = call.params["AutoScalingGroupName"]
    for hook in hooks(call):
        given = hook.get("LifecycleTransition")
        there = (group, hook["LifecycleHookName"]) in STATE.hooks[call.region]
        if given is None and not there:
            return "LifecycleTransition must be specified when creating a new lifecycle hook"
        if given is not None and given not in {LAUNCHING, TERMINATING}:
            return f"Invalid Lifecycle Transition: {given}"
    return None


def _result(call: Call) -> str | None:
    for hook in hooks(call):
        if hook.get("DefaultResult") not in {None, "CONTINUE", "ABANDON"}:
            return f"Invalid DefaultResult: {hook['DefaultResult']}. Valid values are CONTINUE and ABANDON."
    return None


def _target(call: Call) -> str | None:
    for hook in hooks(call):
        if hook.get("NotificationTargetARN") and not hook.get("RoleARN"):
            return "RoleARN must be specified together with NotificationTargetARN"
    return None


BOTH = ("PutLifecycleHook", "CreateAutoScalingGroup")
ROWS = (
    Row(
        "hook-missing-group",
        "autoscaling",
        ("PutLifecycleHook",),
        "ValidationError",
        _missing_group,
        f"{API} PutLifecycleHook; plain moto: K114",
    ),
    Row(
        "hook-heartbeat",
        "autoscaling",
        BOTH,
        "ValidationError",
        _heartbeat,
        f"{API} PutLifecycleHook; fact D48",
    ),
    Row("hook-transition", "autoscaling", BOTH, "ValidationError", _transition, f"{API} PutLifecycleHook"),
    Row(
        "hook-result",
        "autoscaling",
        BOTH,
        "ValidationError",
        _result,
        f"{API} PutLifecycleHook, DefaultResult",
    ),
    Row(
        "hook-target-without-role",
        "autoscaling",
        BOTH,
        "ValidationError",
        _target,
        f"{API} PutLifecycleHook, RoleARN",
    ),
    Row(
        "hook-more-than-50",
        "autoscaling",
        BOTH,
        "LimitExceeded",
        _too_many,
        f"{ASG_GUIDE}/ec2-auto-scaling-quotas.html; fact D47",
    ),
)

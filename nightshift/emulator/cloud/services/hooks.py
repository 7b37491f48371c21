"""Lifecycle hooks and their completion. moto makes up their targets and never holds an instance."""

from __future__ import annotations

from typing import Any

from nightshift.emulator.cloud.call import AwsError, Call
from nightshift.emulator.cloud.services import capacity, waits
from nightshift.emulator.cloud.services.backends import need_group
from nightshift.emulator.cloud.state import STATE, Handlers, Patch

KEPT = ("LifecycleTransition", "NotificationTargetARN", "RoleARN", "NotificationMetadata")


def put_hook(region: str, group_name: str, given: dict[str, Any]) -> None:
    """Create or change one hook; what is not given keeps its value."""
    key = (group_name, given["LifecycleHookName"])
    row = STATE.hooks[region].get(key, {"HeartbeatTimeout": 3600, "DefaultResult": "ABANDON"})
    row |= {name: given[name] for name in KEPT if given.get(name)}
    if given.get("HeartbeatTimeout") is not None:
        row["HeartbeatTimeout"] = int(given["HeartbeatTimeout"])
    row["DefaultResult"] = given.get("DefaultResult") or row["DefaultResult"]
    row["GlobalTimeout"] = min(172_800, 100 * row["HeartbeatTimeout"])
    row |= {"AutoScalingGroupName": group_name, "LifecycleHookName": key[1]}
    STATE.hooks[region][key] = row


def _put(call: Call) -> None:
    put_hook(call.region, need_group(call.region, call.params["AutoScalingGroupName"]).name, call.params)


def _describe(call: Call) -> dict[str, Any]:
    group = need_group(call.region, call.params["AutoScalingGroupName"])
    names = call.params.get("LifecycleHookNames")
    rows = [row for (owner, _), row in STATE.hooks[call.region].items() if owner == group.name]
    return {"LifecycleHooks": [row for row in rows if not names or row["LifecycleHookName"] in names]}


def _delete(call: Call) -> None:
    """The hook's open actions end with CONTINUE for a launch and for an end alike."""
    group = need_group(call.region, call.params["AutoScalingGroupName"])
    name = call.params["LifecycleHookName"]
    if STATE.hooks[call.region].pop((group.name, name), None) is None:
        raise AwsError("ValidationError", f"No Lifecycle Hook found with name: {name}")
    for state in list(group.instance_states):
        held = name in waits.actions(group, state.instance_id)
        if held and waits.complete(group, state.instance_id, name, "CONTINUE"):
            capacity.proceed(group, state, "CONTINUE")


def _types(_call: Call) -> dict[str, Any]:
    return {"LifecycleHookTypes": [waits.LAUNCHING, waits.TERMINATING]}


def _complete(call: Call) -> None:
    group = need_group(call.region, call.params["AutoScalingGroupName"])
    hook, result = call.params["LifecycleHookName"], call.params["LifecycleActionResult"]
    instance_id, _ = waits.find(
        group, hook, call.params.get("LifecycleActionToken"), call.params.get("InstanceId")
    )
    if waits.complete(group, instance_id, hook, result):
        state = next(s for s in group.instance_states if s.instance_id == instance_id)
        capacity.proceed(group, state, result)


def _beat(call: Call) -> None:
    group = need_group(call.region, call.params["AutoScalingGroupName"])
    hook = call.params["LifecycleHookName"]
    _, action = waits.find(
        group, hook, call.params.get("LifecycleActionToken"), call.params.get("InstanceId")
    )
    waits.beat(group, hook, action)


HANDLERS: Handlers = {
    ("autoscaling", "PutLifecycleHook"): _put,
    ("autoscaling", "DescribeLifecycleHooks"): _describe,
    ("autoscaling", "DeleteLifecycleHook"): _delete,
    ("autoscaling", "DescribeLifecycleHookTypes"): _types,
    ("autoscaling", "CompleteLifecycleAction"): _complete,
    ("autoscaling", "RecordLifecycleActionHeartbeat"): _beat,
}
PATCHES: tuple[Patch, ...] = ()

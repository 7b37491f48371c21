"""Notification configurations of groups: one row per group, topic and type. moto lacks them."""

from __future__ import annotations

from typing import Any

from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.services.backends import need_group
from nightshift.emulator.cloud.state import STATE, Handlers, Patch

TYPES = (
    "autoscaling:EC2_INSTANCE_LAUNCH",
    "autoscaling:EC2_INSTANCE_LAUNCH_ERROR",
    "autoscaling:EC2_INSTANCE_TERMINATE",
    "autoscaling:EC2_INSTANCE_TERMINATE_ERROR",
    "autoscaling:TEST_NOTIFICATION",
)


def _put(call: Call) -> None:
    group = need_group(call.region, call.params["AutoScalingGroupName"])
    rows, topic = STATE.notifications[call.region], call.params["TopicARN"]
    for key in [k for k in rows if k[:2] == (group.name, topic)]:
        del rows[key]
    for kind in call.params["NotificationTypes"]:
        row = {"AutoScalingGroupName": group.name, "TopicARN": topic, "NotificationType": kind}
        rows[(group.name, topic, kind)] = row


def _describe(call: Call) -> dict[str, Any]:
    names = call.params.get("AutoScalingGroupNames")
    rows = STATE.notifications[call.region].values()
    return {
        "NotificationConfigurations": [r for r in rows if not names or r["AutoScalingGroupName"] in names]
    }


def _delete(call: Call) -> None:
    rows = STATE.notifications[call.region]
    wanted = (call.params["AutoScalingGroupName"], call.params["TopicARN"])
    for key in [k for k in rows if k[:2] == wanted]:
        del rows[key]


def _types(_call: Call) -> dict[str, Any]:
    return {"AutoScalingNotificationTypes": list(TYPES)}


HANDLERS: Handlers = {
    ("autoscaling", "PutNotificationConfiguration"): _put,
    ("autoscaling", "DescribeNotificationConfigurations"): _describe,
    ("autoscaling", "DeleteNotificationConfiguration"): _delete,
    ("autoscaling", "DescribeAutoScalingNotificationTypes"): _types,
}
PATCHES: tuple[Patch, ...] = ()

"""What the override verbs left in AWS, as moto has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import botocore.client

from nightshift.plan.names import bucket_name
from nightshift.records.store import Records

Clients = Callable[[str], Any]
VIT = "nightshift-lab.vit"
BASE: Any = botocore.client.BaseClient
WRITES = {
    "PutObject",
    "DeleteObject",
    "PutScheduledUpdateGroupAction",
    "DeleteScheduledAction",
    "SetDesiredCapacity",
}
BUCKET = bucket_name("lab", "data", "123456789012", "us-east-1")


def starts(aws: Clients, group: str = VIT) -> dict[str, str | None]:
    found = aws("autoscaling").describe_scheduled_actions(AutoScalingGroupName=group)
    return {
        one["ScheduledActionName"]: f"{one['StartTime']:%m-%d %H:%M}" if one.get("StartTime") else None
        for one in found["ScheduledUpdateGroupActions"]
    }


def desired(aws: Clients, group: str = VIT) -> int:
    found = aws("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[group])
    return found["AutoScalingGroups"][0]["DesiredCapacity"]


def override(aws: Clients, group: str = "vit") -> tuple[str, str] | None:
    record = Records(aws("s3"), BUCKET).override(group).record
    return (record.state, f"{record.until:%m-%d %H:%M}") if record else None

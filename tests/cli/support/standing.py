"""What the override verbs left in AWS, as moto has it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import botocore.client
import pytest
from botocore.exceptions import EndpointConnectionError

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


@contextmanager
def dying(monkeypatch: pytest.MonkeyPatch, survived: int) -> Generator[None]:
    """AWS is gone after so many writing calls."""
    original = BASE._make_api_call
    left = [survived]

    def call(self: Any, operation: str, kwargs: Any) -> Any:
        if operation in WRITES:
            if not left[0]:
                raise EndpointConnectionError(endpoint_url="https://gone")
            left[0] -= 1
        return original(self, operation, kwargs)

    with monkeypatch.context() as broken:
        broken.setattr(BASE, "_make_api_call", call)
        yield


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

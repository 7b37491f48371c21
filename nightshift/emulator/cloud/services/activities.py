"""Scaling activities of groups. moto always answers that there are none."""

from __future__ import annotations

import json
import secrets
from datetime import datetime
from typing import Any

from moto.core.utils import utcnow

from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.services.backends import find_group
from nightshift.emulator.cloud.state import STATE, Handlers, Patch

KEPT = 5_000


def record(
    group: Any, description: str, cause: str, status: str, message: str = "", zone: str = ""
) -> dict[str, Any]:
    """Note one activity of a group, newest first, and give its row."""
    now = utcnow()
    done = status in {"Successful", "Failed", "Cancelled"}
    row: dict[str, Any] = {
        "ActivityId": _activity_id(),
        "AutoScalingGroupName": group.name,
        "AutoScalingGroupARN": group.arn,
        "Description": description,
        "Cause": f"At {now:%Y-%m-%dT%H:%M:%SZ} {cause}",
        "StartTime": now,
        "EndTime": now if done else None,
        "StatusCode": status,
        "StatusMessage": message or None,
        "Progress": 100 if done else 50,
        "Details": json.dumps({"Subnet ID": group.vpc_zone_identifier, "Availability Zone": zone}),
    }
    rows = STATE.activities[group.region]
    rows.insert(0, row)
    del rows[KEPT:]
    return row


def _activity_id() -> str:
    text = secrets.token_hex(16)
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def finish(row: dict[str, Any], status: str, at: datetime | None = None) -> None:
    """End an activity that was in progress."""
    row["StatusCode"], row["EndTime"], row["Progress"] = status, at or utcnow(), 100


def _describe(call: Call) -> dict[str, Any]:
    name, ids = call.params.get("AutoScalingGroupName"), call.params.get("ActivityIds")
    deleted = bool(call.params.get("IncludeDeletedGroups"))
    rows = [
        row
        for row in STATE.activities[call.region]
        if (not name or row["AutoScalingGroupName"] == name.rsplit("/", 1)[-1])
        and (not ids or row["ActivityId"] in ids)
        and (deleted or find_group(call.region, row["AutoScalingGroupName"]) is not None)
    ]
    size, start = call.params.get("MaxRecords") or 100, int(call.params.get("NextToken") or 0)
    more = str(start + size) if len(rows) > start + size else None
    return {"Activities": rows[start : start + size], "NextToken": more}


HANDLERS: Handlers = {("autoscaling", "DescribeScalingActivities"): _describe}
PATCHES: tuple[Patch, ...] = ()

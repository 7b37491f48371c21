"""Scheduled actions, unique per group, with the start time that AWS computes. moto keys them by name alone.

Nothing here fires an action: whoever moves the clock does, by what DescribeScheduledActions says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from cronsim import CronSim
from moto.core.utils import utcnow

from nightshift.emulator.cloud import ACCOUNT
from nightshift.emulator.cloud.call import AwsError, Call
from nightshift.emulator.cloud.services.backends import need_group
from nightshift.emulator.cloud.state import STATE, Handlers, Patch

KEPT = ("StartTime", "EndTime", "Recurrence", "MinSize", "MaxSize", "DesiredCapacity", "TimeZone")


def next_start(recurrence: str, zone: str | None, after: datetime) -> datetime:
    """The first instant later than `after` (naive UTC) at which a five-field cron fires in its zone;
    naive UTC."""
    local = after.replace(tzinfo=UTC).astimezone(ZoneInfo(zone or "Etc/UTC"))
    return next(CronSim(recurrence, local)).astimezone(UTC).replace(tzinfo=None)


def put_schedule(region: str, group: Any, given: dict[str, Any]) -> None:
    """Create or change one action; what is not given keeps its value, as on AWS."""
    name = given["ScheduledActionName"]
    old = STATE.schedules[region].get((group.name, name), {})
    row = {key: old.get(key) for key in KEPT if old.get(key) is not None}
    row |= {key: given[key] for key in KEPT if given.get(key) is not None}
    if given.get("Recurrence") is not None and given.get("StartTime") is None:
        row.pop("StartTime", None)
    arn = f"arn:aws:autoscaling:{region}:{ACCOUNT}:scheduledUpdateGroupAction:{group._id}"
    row |= {
        "AutoScalingGroupName": group.name,
        "ScheduledActionName": name,
        "ScheduledActionARN": f"{arn}:autoScalingGroupName/{group.name}:scheduledActionName/{name}",
    }
    STATE.schedules[region][(group.name, name)] = row


def shown(row: dict[str, Any], now: datetime) -> dict[str, Any]:
    """A row as Describe gives it: StartTime is the next run of a recurrence that is not before the
    asked start."""
    start = row.get("StartTime")
    if row.get("Recurrence") and (start is None or start <= now):
        start = next_start(row["Recurrence"], row.get("TimeZone"), now)
    return {**row, "StartTime": start, "Time": start}


def _put(call: Call) -> None:
    put_schedule(call.region, need_group(call.region, call.params["AutoScalingGroupName"]), call.params)


def _batch_put(call: Call) -> dict[str, Any]:
    group = need_group(call.region, call.params["AutoScalingGroupName"])
    for row in call.params["ScheduledUpdateGroupActions"]:
        put_schedule(call.region, group, row)
    return {"FailedScheduledUpdateGroupActions": []}


def _describe(call: Call) -> dict[str, Any]:
    group, names = call.params.get("AutoScalingGroupName"), call.params.get("ScheduledActionNames")
    low, high = call.params.get("StartTime"), call.params.get("EndTime")
    now = utcnow()
    rows = [
        shown(row, now)
        for (owner, name), row in sorted(STATE.schedules[call.region].items())
        if (not group or owner == group.rsplit("/", 1)[-1]) and (not names or name in names)
    ]
    if not names:
        rows = [
            r for r in rows if (not low or r["StartTime"] >= low) and (not high or r["StartTime"] <= high)
        ]
    size, start = call.params.get("MaxRecords") or 50, int(call.params.get("NextToken") or 0)
    more = str(start + size) if len(rows) > start + size else None
    return {"ScheduledUpdateGroupActions": rows[start : start + size], "NextToken": more}


def _remove(region: str, group: str, name: str) -> None:
    if STATE.schedules[region].pop((group, name), None) is None:
        raise AwsError("ValidationError", "Scheduled action name not found")


def _delete(call: Call) -> None:
    _remove(call.region, call.params["AutoScalingGroupName"], call.params["ScheduledActionName"])


def _batch_delete(call: Call) -> dict[str, Any]:
    failed = []
    for name in call.params["ScheduledActionNames"]:
        try:
            _remove(call.region, call.params["AutoScalingGroupName"], name)
        except AwsError as error:
            failed.append(
                {"ScheduledActionName": name, "ErrorCode": error.code, "ErrorMessage": error.message}
            )
    return {"FailedScheduledActions": failed}


HANDLERS: Handlers = {
    ("autoscaling", "PutScheduledUpdateGroupAction"): _put,
    ("autoscaling", "BatchPutScheduledUpdateGroupAction"): _batch_put,
    ("autoscaling", "DescribeScheduledActions"): _describe,
    ("autoscaling", "DeleteScheduledAction"): _delete,
    ("autoscaling", "BatchDeleteScheduledAction"): _batch_delete,
}
PATCHES: tuple[Patch, ...] = ()

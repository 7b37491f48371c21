"""Refusals of scheduled actions."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from zoneinfo import available_timezones

from cronsim import CronSim, CronSimError
from moto.core.utils import utcnow

from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.refusals.row import API, ASG_GUIDE, Row
from nightshift.emulator.cloud.services.backends import find_group
from nightshift.emulator.cloud.services.schedules import next_start
from nightshift.emulator.cloud.state import STATE

PUTS = ("PutScheduledUpdateGroupAction", "BatchPutScheduledUpdateGroupAction")
SIZES = ("MinSize", "MaxSize", "DesiredCapacity")
LIMIT = 125
FIELD = re.compile(r"[0-9A-Za-z*,/-]+")


def actions(call: Call) -> list[dict[str, Any]]:
    """The actions of a single or batch put."""
    return call.params.get("ScheduledUpdateGroupActions") or [call.params]


def cron_is_good(text: str) -> bool:
    """Five fields of Unix cron; no `?`, no `cron(...)`, no year, no seconds."""
    fields = text.split()
    if len(fields) != 5 or not all(FIELD.fullmatch(field) for field in fields):
        return False
    try:
        CronSim(text, datetime(2026, 1, 1))
    except CronSimError:
        return False
    return True


def _past_start(call: Call) -> str | None:
    now = utcnow()
    past = any(a["StartTime"] < now for a in actions(call) if a.get("StartTime"))
    return "Given start time is in the past" if past else None


def _bad_cron(call: Call) -> str | None:
    for action in actions(call):
        text = action.get("Recurrence")
        if text and not cron_is_good(text):
            return f"Given recurrence string:{text} is invalid"
    return None


def _bad_zone(call: Call) -> str | None:
    for action in actions(call):
        zone = action.get("TimeZone")
        if zone and (zone not in available_timezones() or "/" not in zone):
            return f"Given time zone: {zone} is invalid"
    return None


def _no_size(call: Call) -> str | None:
    group = call.params["AutoScalingGroupName"]
    for action in actions(call):
        known = STATE.schedules[call.region].get((group, action.get("ScheduledActionName", "")), {})
        if all((known | action).get(size) is None for size in SIZES):
            return "At least one of the following parameters must be set: MinSize, MaxSize, DesiredCapacity"
    return None


def _min_above_max(call: Call) -> str | None:
    for action in actions(call):
        low, high = action.get("MinSize"), action.get("MaxSize")
        if low is not None and high is not None and low > high:
            return f"Min bound, {low}, must be less than or equal to max bound, {high}"
    return None


def _desired_outside(call: Call) -> str | None:
    for action in actions(call):
        low, high, desired = action.get("MinSize"), action.get("MaxSize"), action.get("DesiredCapacity")
        if desired is not None and low is not None and desired < low:
            return (
                f"Desired capacity:{desired} must be between the specified min size:{low} and max size:{high}"
            )
        if desired is not None and high is not None and desired > high:
            return (
                f"Desired capacity:{desired} must be between the specified min size:{low} and max size:{high}"
            )
    return None


def _end_before_start(call: Call) -> str | None:
    for action in actions(call):
        start, end = action.get("StartTime"), action.get("EndTime")
        if start and end and end <= start:
            return "Given end time is earlier than start time"
    return None


def _missing_group(call: Call) -> str | None:
    if find_group(call.region, call.params["AutoScalingGroupName"]) is None:
        return "Group " + call.params["AutoScalingGroupName"] + " not found"
    return None


def _too_many(call: Call) -> str | None:
    group = call.params["AutoScalingGroupName"]
    names = {name for owner, name in STATE.schedules[call.region] if owner == group}
    names |= {action.get("ScheduledActionName", "") for action in actions(call)}
    if len(names) > LIMIT:
        return f"A maximum of {LIMIT} scheduled actions are allowed per Auto Scaling group."
    return None


def start_of(action: dict[str, Any], now: datetime) -> datetime | None:
    """When an action will first run (naive UTC), None when it never says."""
    start = action.get("StartTime")
    if start is not None and (start > now or not action.get("Recurrence")):
        return start
    if action.get("Recurrence") and cron_is_good(action["Recurrence"]):
        return next_start(action["Recurrence"], action.get("TimeZone"), now)
    return None


def _same_start(call: Call) -> str | None:
    group, now = call.params["AutoScalingGroupName"], utcnow()
    put = {a.get("ScheduledActionName", ""): start_of(a, now) for a in actions(call)}
    there = {
        name: start_of(row, now)
        for (owner, name), row in STATE.schedules[call.region].items()
        if owner == group and name not in put
    }
    starts = [start for start in (*put.values(), *there.values()) if start is not None]
    if len(starts) == len(set(starts)) or (not set(there.values()) & set(put.values()) and len(put) == 1):
        return None
    return "A scheduled action with this scheduled start time already exists"


def _row(name: str, refuses: Any, source: str, code: str = "ValidationError") -> Row:
    return Row(f"schedule-{name}", "autoscaling", PUTS, code, refuses, source)


ROWS = (
    _row("missing-group", _missing_group, f"{API} PutScheduledUpdateGroupAction; plain moto: RUN K113"),
    _row("past-start", _past_start, "hashicorp/terraform-provider-aws#38983, #41200, #723; K113"),
    _row("bad-cron", _bad_cron, f"{API} PutScheduledUpdateGroupAction, Recurrence; fact A9"),
    _row("bad-zone", _bad_zone, f"{API} PutScheduledUpdateGroupAction, TimeZone; fact A7"),
    _row("no-size", _no_size, "hashicorp/terraform#4690; fact A2"),
    _row("min-above-max", _min_above_max, "hashicorp/terraform-provider-aws#4930; fact A1"),
    _row("desired-outside", _desired_outside, "hashicorp/terraform-provider-aws#4930; fact A1"),
    _row("end-before-start", _end_before_start, f"{API} PutScheduledUpdateGroupAction, EndTime"),
    _row("more-than-125", _too_many, f"{ASG_GUIDE}/ec2-auto-scaling-quotas.html; fact A11", "LimitExceeded"),
    _row("same-start", _same_start, f"{ASG_GUIDE}/ec2-auto-scaling-scheduled-scaling.html", "AlreadyExists"),
)

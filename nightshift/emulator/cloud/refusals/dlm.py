"""Refusals of snapshot policies beyond the model, which already holds counts, lengths and characters."""

from __future__ import annotations

import re
from typing import Any

from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.refusals.row import API, EBS_GUIDE, Condition, Row
from nightshift.emulator.cloud.services.backends import iam
from nightshift.emulator.cloud.state import STATE

BOTH = ("CreateLifecyclePolicy", "UpdateLifecyclePolicy")
CREATE = BOTH[:1]
INTERVALS = (1, 2, 3, 4, 6, 8, 12, 24)
KEPT = (1, 1000)
POLICIES = 100


def _details(call: Call) -> dict[str, Any]:
    return call.params.get("PolicyDetails") or {}


def _schedules(call: Call) -> list[dict[str, Any]]:
    return _details(call).get("Schedules") or []


def _rules(call: Call) -> list[dict[str, Any]]:
    return [schedule.get("CreateRule") or {} for schedule in _schedules(call)]


def _targets(call: Call) -> str | None:
    if _details(call) and not _details(call).get("TargetTags") and not call.params.get("DefaultPolicy"):
        return "The following required parameters are missing: TargetTags"
    return None


def _interval(call: Call) -> str | None:
    for rule in _rules(call):
        given = rule.get("Interval")
        if given is not None and given not in INTERVALS:
            return f"Invalid interval {given}. Supported values are {', '.join(map(str, INTERVALS))}"
    return None


def _one_rule(call: Call) -> str | None:
    for rule in _rules(call):
        if rule.get("CronExpression") and rule.get("Interval") is not None:
            return "CronExpression and Interval are mutually exclusive"
        if not rule.get("CronExpression") and rule.get("Interval") is None:
            return "Either Interval or CronExpression must be given in CreateRule"
    return None


def cron_is_good(text: str) -> bool:
    """Six fields of EventBridge cron, with `?` in exactly one of day-of-month and day-of-week."""
    match = re.fullmatch(r"cron\(([^)]*)\)", text)
    fields = match[1].split() if match else []
    return len(fields) == 6 and [fields[2], fields[4]].count("?") == 1


def _cron(call: Call) -> str | None:
    for rule in _rules(call):
        text = rule.get("CronExpression")
        if text and not cron_is_good(text):
            return f"Invalid cron expression {text}"
    return None


def _retain(call: Call) -> str | None:
    low, high = KEPT
    for schedule in _schedules(call):
        rule = schedule.get("RetainRule") or {}
        count = rule.get("Count")
        if count is None and not rule.get("Interval"):
            return "Either Count or Interval must be given in RetainRule"
        if count is not None and not low <= count <= high:
            return f"Invalid retain count {count}. It must be between {low} and {high}"
    return None


def _names(call: Call) -> str | None:
    names = [schedule.get("Name") for schedule in _schedules(call)]
    return "Schedule names must be unique in a policy" if len(set(names)) != len(names) else None


def _role(call: Call) -> str | None:
    given = call.params.get("ExecutionRoleArn")
    if not given:
        return None
    role = next((role for role in iam().roles.values() if role.arn == given), None)
    if role is None:
        return f"The role {given} does not exist"
    return (
        None
        if "dlm.amazonaws.com" in str(role.assume_role_policy_document)
        else f"The role {given} cannot be assumed by DLM"
    )


def _too_many(call: Call) -> str | None:
    return "Policy limit exceeded" if len(STATE.policies[call.region]) >= POLICIES else None


def _row(name: str, refuses: Condition, source: str, operations: tuple[str, ...] = BOTH) -> Row:
    return Row(f"dlm-{name}", "dlm", operations, "InvalidRequestException", refuses, source)


ROWS = (
    _row("no-target-tags", _targets, "hashicorp/terraform-provider-aws#43944; fact G95"),
    _row("interval", _interval, f"{API} CreateRule, Interval; fact G93"),
    _row("one-rule", _one_rule, f"{API} CreateRule, CronExpression; fact G94"),
    _row("cron", _cron, f"{API} CreateRule, CronExpression; fact G93"),
    _row("retain", _retain, f"{EBS_GUIDE}/snapshot-lifecycle.html; fact G92"),
    _row("names", _names, f"{API} Schedule, Name"),
    _row("role", _role, "pulumi/pulumi-aws#422; fact G100"),
    Row(
        "dlm-more-than-100",
        "dlm",
        CREATE,
        "LimitExceededException",
        _too_many,
        f"{EBS_GUIDE}/dlm-quotas.html; fact G92",
    ),
)

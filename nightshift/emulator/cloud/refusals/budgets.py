"""Refusals of budgets beyond the model."""

from __future__ import annotations

from typing import Any

from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.refusals.row import API, Condition, Row

CREATE = ("CreateBudget",)
BOTH = ("CreateBudget", "UpdateBudget")
NOTIFICATIONS, EMAILS, TOPICS = 10, 10, 1
QUOTAS = "docs.aws.amazon.com/cost-management/latest/userguide/management-limits.html"


def _budget(call: Call) -> dict[str, Any]:
    return call.params.get("Budget") or call.params.get("NewBudget") or {}


def _amount(call: Call) -> str | None:
    amount = (_budget(call).get("BudgetLimit") or {}).get("Amount")
    try:
        good = amount is None or float(amount) > 0
    except ValueError:
        good = False
    return None if good else f"Budget limit must be a number above 0, given {amount}"


def _subscribers(call: Call) -> str | None:
    for row in call.params.get("NotificationsWithSubscribers") or ():
        kinds = [subscriber["SubscriptionType"] for subscriber in row["Subscribers"]]
        if kinds.count("EMAIL") > EMAILS or kinds.count("SNS") > TOPICS:
            return f"A notification takes at most {EMAILS} email and {TOPICS} SNS subscribers"
    return None


def _same_notification(call: Call) -> str | None:
    seen = set()
    for row in call.params.get("NotificationsWithSubscribers") or ():
        one = row["Notification"]
        key = (
            one["NotificationType"],
            one["ComparisonOperator"],
            float(one["Threshold"]),
            one.get("ThresholdType"),
        )
        if key in seen:
            return "Error creating notification - duplicate notification in the request."
        seen.add(key)
    return None


def _period(call: Call) -> str | None:
    period = _budget(call).get("TimePeriod") or {}
    start, end = period.get("Start"), period.get("End")
    return "Start date must be before end date" if start and end and start >= end else None


def _row(name: str, operations: tuple[str, ...], refuses: Condition, source: str, code: str) -> Row:
    return Row(f"budget-{name}", "budgets", operations, code, refuses, source)


WRONG = "InvalidParameterException"
ROWS = (
    _row("amount", BOTH, _amount, f"{API} Budget, BudgetLimit", WRONG),
    _row("subscribers", CREATE, _subscribers, QUOTAS, "CreationLimitExceededException"),
    _row("same-notification", CREATE, _same_notification, f"{API} CreateBudget", "DuplicateRecordException"),
    _row("period", BOTH, _period, f"{API} TimePeriod", WRONG),
)

"""Budgets with notifications, subscribers and tags. moto keeps budgets without updates, subscribers
and tags."""

from __future__ import annotations

from copy import deepcopy
from datetime import datetime
from typing import Any

from moto.core.utils import utcnow

from nightshift.emulator.cloud.call import AwsError, Call
from nightshift.emulator.cloud.state import STATE, Handlers, Patch

# What AWS answers when a cost budget names no cost types, and when it names no end.
COST_TYPES = {
    "IncludeTax": True,
    "IncludeSubscription": True,
    "UseBlended": False,
    "IncludeRefund": True,
    "IncludeCredit": True,
    "IncludeUpfront": True,
    "IncludeRecurring": True,
    "IncludeOtherSubscription": True,
    "IncludeSupport": True,
    "IncludeDiscount": True,
    "UseAmortized": False,
}
LAST_END = datetime(2087, 6, 15)


def _filled(budget: dict[str, Any], since: datetime | None = None) -> dict[str, Any]:
    filled = deepcopy(budget)
    now = utcnow()
    period = filled.setdefault("TimePeriod", {})
    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    period.setdefault("Start", since or month)
    period.setdefault("End", LAST_END)
    if filled.get("BudgetType") == "COST" and "FilterExpression" not in filled:
        filled["CostTypes"] = COST_TYPES | filled.get("CostTypes", {})
    filled["LastUpdatedTime"] = now
    filled.setdefault("CalculatedSpend", {"ActualSpend": {"Amount": "0.0", "Unit": "USD"}})
    return filled


def _need(name: str, doing: str) -> dict[str, Any]:
    kept = STATE.budgets.get(name)
    if kept is None:
        raise AwsError("NotFoundException", f"Unable to {doing}: {name} - the budget doesn't exist.")
    return kept


def _create(call: Call) -> None:
    budget = call.params["Budget"]
    name = budget["BudgetName"]
    if name in STATE.budgets:
        text = f"Error creating budget: {name} - the budget already exists."
        raise AwsError("DuplicateRecordException", text)
    if not any(key in budget for key in ("BudgetLimit", "PlannedBudgetLimits", "AutoAdjustData")):
        text = "Unable to create/update budget - please provide one of the followings: Budget Limit/ "
        raise AwsError("InvalidParameterException", text + "Planned Budget Limit/ Auto Adjust Data")
    STATE.budgets[name] = {
        "budget": _filled(budget),
        "notifications": [
            {"Notification": _notification(n["Notification"]), "Subscribers": list(n["Subscribers"])}
            for n in call.params.get("NotificationsWithSubscribers", ())
        ],
        "tags": {t["Key"]: t["Value"] for t in call.params.get("ResourceTags", ())},
    }


def _notification(given: dict[str, Any]) -> dict[str, Any]:
    return {"ThresholdType": "PERCENTAGE", "NotificationState": "OK"} | given


def _describe(call: Call) -> dict[str, Any]:
    return {"Budget": _need(call.params["BudgetName"], "get budget")["budget"]}


def _list(_call: Call) -> dict[str, Any]:
    return {"Budgets": [kept["budget"] for kept in STATE.budgets.values()]}


def _update(call: Call) -> None:
    new = call.params["NewBudget"]
    kept = _need(new["BudgetName"], "update budget")
    kept["budget"] = _filled(new, kept["budget"]["TimePeriod"]["Start"])


def _delete(call: Call) -> None:
    _need(call.params["BudgetName"], "delete budget")
    del STATE.budgets[call.params["BudgetName"]]


def _identity(notification: dict[str, Any]) -> tuple[Any, ...]:
    kind = notification.get("ThresholdType", "PERCENTAGE")
    keys = ("NotificationType", "ComparisonOperator")
    return (*(notification[key] for key in keys), float(notification["Threshold"]), kind)


def _find(call: Call, key: str = "Notification") -> dict[str, Any]:
    kept = _need(call.params["BudgetName"], "get notification")
    wanted = _identity(call.params[key])
    for row in kept["notifications"]:
        if _identity(row["Notification"]) == wanted:
            return row
    raise AwsError("NotFoundException", "the notification doesn't exist.")


def _create_notification(call: Call) -> None:
    kept = _need(call.params["BudgetName"], "create notification")
    wanted = _identity(call.params["Notification"])
    if any(_identity(row["Notification"]) == wanted for row in kept["notifications"]):
        raise AwsError("DuplicateRecordException", "Error creating notification - it already exists.")
    row = {
        "Notification": _notification(call.params["Notification"]),
        "Subscribers": call.params["Subscribers"],
    }
    kept["notifications"].append(row)


def _delete_notification(call: Call) -> None:
    row = _find(call)
    STATE.budgets[call.params["BudgetName"]]["notifications"].remove(row)


def _update_notification(call: Call) -> None:
    _find(call, "OldNotification")["Notification"] = _notification(call.params["NewNotification"])


def _notifications(call: Call) -> dict[str, Any]:
    kept = _need(call.params["BudgetName"], "get notifications")
    return {"Notifications": [row["Notification"] for row in kept["notifications"]]}


def _subscribers(call: Call) -> dict[str, Any]:
    return {"Subscribers": _find(call)["Subscribers"]}


def _create_subscriber(call: Call) -> None:
    rows = _find(call)["Subscribers"]
    if call.params["Subscriber"] in rows:
        raise AwsError("DuplicateRecordException", "Error creating subscriber - it already exists.")
    rows.append(call.params["Subscriber"])


def _delete_subscriber(call: Call) -> None:
    rows = _find(call)["Subscribers"]
    if call.params["Subscriber"] not in rows:
        raise AwsError("NotFoundException", "the subscriber doesn't exist.")
    rows.remove(call.params["Subscriber"])


def _update_subscriber(call: Call) -> None:
    rows = _find(call)["Subscribers"]
    if call.params["OldSubscriber"] not in rows:
        raise AwsError("NotFoundException", "the subscriber doesn't exist.")
    rows[rows.index(call.params["OldSubscriber"])] = call.params["NewSubscriber"]


def _by_arn(call: Call) -> dict[str, str]:
    return _need(call.params["ResourceARN"].rsplit(":budget/", 1)[-1], "get tags")["tags"]


def _tags(call: Call) -> dict[str, Any]:
    return {"ResourceTags": [{"Key": k, "Value": v} for k, v in _by_arn(call).items()]}


def _tag(call: Call) -> None:
    _by_arn(call).update({t["Key"]: t["Value"] for t in call.params["ResourceTags"]})


def _untag(call: Call) -> None:
    tags = _by_arn(call)
    for key in call.params["ResourceTagKeys"]:
        tags.pop(key, None)


HANDLERS: Handlers = {
    ("budgets", "CreateBudget"): _create,
    ("budgets", "DescribeBudget"): _describe,
    ("budgets", "DescribeBudgets"): _list,
    ("budgets", "UpdateBudget"): _update,
    ("budgets", "DeleteBudget"): _delete,
    ("budgets", "CreateNotification"): _create_notification,
    ("budgets", "UpdateNotification"): _update_notification,
    ("budgets", "DeleteNotification"): _delete_notification,
    ("budgets", "DescribeNotificationsForBudget"): _notifications,
    ("budgets", "DescribeSubscribersForNotification"): _subscribers,
    ("budgets", "CreateSubscriber"): _create_subscriber,
    ("budgets", "UpdateSubscriber"): _update_subscriber,
    ("budgets", "DeleteSubscriber"): _delete_subscriber,
    ("budgets", "ListTagsForResource"): _tags,
    ("budgets", "TagResource"): _tag,
    ("budgets", "UntagResource"): _untag,
}
PATCHES: tuple[Patch, ...] = ()

"""Refusals of alarms, dashboards and log groups beyond the model."""

from __future__ import annotations

import json
from typing import Any

from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.refusals.row import API, Condition, Row

ALARM = ("PutMetricAlarm",)
# Days; botocore 1.44.8, PutRetentionPolicy.
RETENTION = frozenset(
    {1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653}
)
WEEK = 604_800
SHORT_PERIODS = frozenset({10, 20, 30})


def _queries(call: Call) -> list[dict[str, Any]]:
    return call.params.get("Metrics") or []


def _source(call: Call) -> str | None:
    single = call.params.get("MetricName")
    if bool(single) == bool(_queries(call)):
        return "Exactly one of MetricName and Metrics must be specified"
    return None


def _returned(call: Call) -> str | None:
    rows = _queries(call)
    returned = [row for row in rows if row.get("ReturnData", True)]
    if rows and len(returned) != 1:
        return "Exactly one element of the metrics list should return data"
    return None


def _period(call: Call) -> str | None:
    periods = [call.params.get("Period")]
    periods += [(row.get("MetricStat") or {}).get("Period") for row in _queries(call)]
    for period in periods:
        if period is not None and period not in SHORT_PERIODS and period % 60:
            return f"Period {period} must be 10, 20, 30, or a multiple of 60"
    return None


def _datapoints(call: Call) -> str | None:
    needed, total = call.params.get("DatapointsToAlarm"), call.params.get("EvaluationPeriods")
    if needed is not None and total is not None and needed > total:
        return "DatapointsToAlarm must be at most EvaluationPeriods"
    return None


def _span(call: Call) -> str | None:
    period, total = call.params.get("Period"), call.params.get("EvaluationPeriods") or 1
    if period is not None and period * total > WEEK:
        return (
            "Metrics cannot be checked across more than a week (EvaluationPeriods * Period "
            f"must be <= {WEEK})"
        )
    return None


def _expression_ids(call: Call) -> str | None:
    ids = [row["Id"] for row in _queries(call)]
    twice = sorted({one for one in ids if ids.count(one) > 1})
    return f"The metric ids must be unique: {', '.join(twice)}" if twice else None


def _dashboard(call: Call) -> str | None:
    try:
        body = json.loads(call.params["DashboardBody"])
    except ValueError:
        return "The field DashboardBody must be a valid JSON object"
    if isinstance(body, dict) and isinstance(body.get("widgets"), list):
        return None
    return "The dashboard body is invalid: 'widgets' must be a list"


def _retention(call: Call) -> str | None:
    days = call.params["retentionInDays"]
    if days in RETENTION:
        return None
    return (
        f"1 validation error detected: Value '{days}' at 'retentionInDays' failed to satisfy constraint: "
        + str(sorted(RETENTION))
    )


def _alarm(name: str, refuses: Condition, code: str = "ValidationError") -> Row:
    return Row(f"alarm-{name}", "cloudwatch", ALARM, code, refuses, f"{API} PutMetricAlarm")


ROWS = (
    _alarm("source", _source),
    _alarm("returned", _returned),
    _alarm("period", _period),
    _alarm("datapoints", _datapoints),
    _alarm("span", _span),
    _alarm("ids", _expression_ids),
    Row(
        "dashboard-body",
        "cloudwatch",
        ("PutDashboard",),
        "InvalidParameterInput",
        _dashboard,
        f"{API} PutDashboard, DashboardBody",
    ),
    Row(
        "log-retention",
        "logs",
        ("PutRetentionPolicy",),
        "InvalidParameterException",
        _retention,
        f"{API} PutRetentionPolicy",
    ),
)

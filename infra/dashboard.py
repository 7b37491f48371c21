"""The site's dashboard as CloudWatch's JSON. Pure: names in, text out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from nightshift.plan import names

T = TypeVar("T")

GROUPS_PER_ROW = 5
"""Two lines a group stay readable in one graph; 400 groups make 240 graphs, CloudWatch allows 500 widgets."""
ALARMS_PER_WIDGET = 100
"""CloudWatch's own limit."""
METRIC_GPU = "GpuUtilization"
"""Per cent, mean over the node's GPUs; nodes send it."""


@dataclass(frozen=True)
class DashboardGroup:
    """A group's name in the stack file, its Auto Scaling group and its alarms' ARNs."""

    group: str
    group_name: str
    alarm_arns: tuple[str, ...]


def dashboard_body(site: str, region: str, groups: Sequence[DashboardGroup]) -> str:
    """Alarms first, then a row of three graphs for every five groups."""
    arns = [arn for group in groups for arn in group.alarm_arns]
    widgets = [_alarms(chunk) for chunk in _chunks(arns, ALARMS_PER_WIDGET)]
    for row in _chunks(groups, GROUPS_PER_ROW):
        widgets += _row(site, region, row)
    return json.dumps({"widgets": widgets}, separators=(",", ":"), sort_keys=True)


def _row(site: str, region: str, groups: Sequence[DashboardGroup]) -> list[dict[str, Any]]:
    sizes = [_size(group, metric) for group in groups for metric in _SIZES]
    return [
        _graph(region, "Nodes wanted and in service", sizes, "Average", 60),
        _graph(region, "GPU utilisation, %", [_own(METRIC_GPU, site, g) for g in groups], "Average", 300),
        _graph(
            region,
            "Failed boots",
            [_own(names.METRIC_BOOT_FAILED, site, group) for group in groups],
            "Sum",
            3_600,
        ),
    ]


_SIZES = {"GroupDesiredCapacity": "wanted", "GroupInServiceInstances": "in service"}


def _size(group: DashboardGroup, metric: str) -> list[Any]:
    label = {"label": f"{group.group} {_SIZES[metric]}"}
    return ["AWS/AutoScaling", metric, "AutoScalingGroupName", group.group_name, label]


def _own(metric: str, site: str, group: DashboardGroup) -> list[Any]:
    dimensions = [names.DIMENSION_SITE, site, names.DIMENSION_GROUP, group.group]
    return [names.METRIC_NAMESPACE, metric, *dimensions, {"label": group.group}]


def _graph(region: str, title: str, metrics: list[list[Any]], stat: str, period_s: int) -> dict[str, Any]:
    shown = {"region": region, "title": title, "metrics": metrics, "stat": stat, "period": period_s}
    scale = {"view": "timeSeries", "yAxis": {"left": {"min": 0}}}
    return {"type": "metric", "width": 8, "height": 6, "properties": {**shown, **scale}}


def _alarms(arns: Sequence[str]) -> dict[str, Any]:
    return {"type": "alarm", "width": 24, "height": 3, "properties": {"title": "Alarms", "alarms": arns}}


def _chunks(items: Sequence[T], size: int) -> list[list[T]]:
    return [list(items[start : start + size]) for start in range(0, len(items), size)]

"""When a group needs a person, or must stop: the alarms of one group as plain values.

`no-capacity` mails: waiting for capacity costs nothing, so the group goes on trying.
`not-ready` and `stuck` mail and take the group to 0: a node that can't get ready is billed all the same.
`stuck` is for nodes that die without a word (no network, no agent): nothing counts those but their pending.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from nightshift.plan import names
from nightshift.settings.models import Stack
from nightshift.settings.to_plan import minutes

GROUP_NAMESPACE = "AWS/AutoScaling"
BOOT_FAILURES = 3
"""Failed boots within an hour that stop the group: one may be bad hardware, three are not."""
MOST_DATAPOINTS = 288
"""CloudWatch looks back one day at most: 288 periods of 5 minutes."""
_PERIOD_S = 300
_HOUR_S = 3_600


@dataclass(frozen=True)
class Metric:
    """One input of an alarm. `id` is its name in `expression`; period in seconds."""

    id: str
    namespace: str
    name: str
    stat: str
    dimensions: dict[str, str]


@dataclass(frozen=True)
class AlarmSpec:
    """In alarm when `expression` is at least `threshold` in `needed` of the last `periods` periods.

    Without an expression the only metric is read.
    """

    part: str
    name: str
    says: str
    expression: str | None
    metrics: tuple[Metric, ...]
    threshold: float
    period_s: int
    periods: int
    needed: int
    stops: bool


def group_alarms(stack: Stack, group: str) -> tuple[AlarmSpec, ...]:
    """The three alarms of `group`; their patience follows its longest boot."""
    boot_min = minutes(stack.groups[group].boot)
    sized = {"AutoScalingGroupName": names.group_name(stack.name, group)}
    return (
        _no_capacity(stack.name, group, sized, boot_min),
        _not_ready(stack.name, group),
        _stuck(stack.name, group, sized, boot_min),
    )


def _no_capacity(site: str, group: str, sized: dict[str, str], boot_min: int) -> AlarmSpec:
    periods = _periods(max(30, boot_min + 10))
    return AlarmSpec(
        part=f"alarm-{group}-no-capacity",
        name=names.no_capacity_alarm(site, group),
        says=f"{group}: fewer nodes in service than wanted for {periods * 5} minutes",
        expression="desired - in_service",
        metrics=(
            _size("desired", "GroupDesiredCapacity", sized),
            _size("in_service", "GroupInServiceInstances", sized),
        ),
        threshold=1,
        period_s=_PERIOD_S,
        periods=periods,
        needed=periods,
        stops=False,
    )


def _not_ready(site: str, group: str) -> AlarmSpec:
    dimensions = {names.DIMENSION_SITE: site, names.DIMENSION_GROUP: group}
    failed = Metric("failed", names.METRIC_NAMESPACE, names.METRIC_BOOT_FAILED, "Sum", dimensions)
    return AlarmSpec(
        part=f"alarm-{group}-not-ready",
        name=names.not_ready_alarm(site, group),
        says=f"{group}: {BOOT_FAILURES} boots failed within an hour; the group goes to 0",
        expression=None,
        metrics=(failed,),
        threshold=BOOT_FAILURES,
        period_s=_HOUR_S,
        periods=1,
        needed=1,
        stops=True,
    )


def _stuck(site: str, group: str, sized: dict[str, str], boot_min: int) -> AlarmSpec:
    """Four fifths of two boots and half an hour: a healthy boot takes less, a relaunch leaves short gaps."""
    periods = _periods(2 * boot_min + 30)
    return AlarmSpec(
        part=f"alarm-{group}-stuck",
        name=f"{names.group_name(site, group)}-stuck",
        says=f"{group}: nodes are billed but none got ready for {periods * 4} minutes; the group goes to 0",
        expression="IF(in_service < 1, pending, 0)",
        metrics=(
            _size("in_service", "GroupInServiceInstances", sized),
            _size("pending", "GroupPendingInstances", sized),
        ),
        threshold=1,
        period_s=_PERIOD_S,
        periods=periods,
        needed=ceil(periods * 0.8),
        stops=True,
    )


def _size(identifier: str, metric: str, dimensions: dict[str, str]) -> Metric:
    """Maximum: Auto Scaling sends one sample a minute, and a node that came and went still counts."""
    return Metric(identifier, GROUP_NAMESPACE, metric, "Maximum", dimensions)


def _periods(wanted_min: int) -> int:
    return min(ceil(wanted_min * 60 / _PERIOD_S), MOST_DATAPOINTS)

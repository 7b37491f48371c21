"""CloudWatch alarms on a group's sizes and failed boots, and the scaling policies that they run.

An alarm is looked at every minute while something could move it, and at no other time: the rest of the year
its metrics stand still. Windows slide by the minute and hold whole minutes, as CloudWatch's do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nightshift.plan.names import DIMENSION_GROUP, DIMENSION_SITE, METRIC_BOOT_FAILED
from nightshift.rehearsal.control.metric_math import Formula, formula
from nightshift.rehearsal.control.site import Site, resize
from nightshift.rehearsal.control.state import GroupState, Sizes
from nightshift.rehearsal.world.model import Alarm, Metric, World

_MINUTE = 60
_SIZES = {
    "GroupDesiredCapacity": "desired",
    "GroupInServiceInstances": "in_service",
    "GroupPendingInstances": "pending",
}


@dataclass(eq=False)
class AlarmState:
    """One alarm of one group. `due`: a look is planned. `of_failures`: it reads failed boots only."""

    alarm: Alarm
    expression: Formula = field(repr=False)
    of_failures: bool = False
    ringing: bool = False
    due: bool = False


def alarms_of(world: World) -> dict[str, list[AlarmState]]:
    """Each group's alarms by its short name. Raises ValueError for what isn't played here."""
    short = {group.name: group.manifest.group for group in world.groups}
    found: dict[str, list[AlarmState]] = {name: [] for name in short.values()}
    for alarm in world.alarms:
        owners = {_owner(metric, short, world.site, alarm.name) for metric in alarm.metrics}
        if len(owners) != 1:
            raise ValueError(f"alarm {alarm.name}: it reads {len(owners)} groups, one is played")
        failures = all(metric.name == METRIC_BOOT_FAILED for metric in alarm.metrics)
        found[owners.pop()].append(AlarmState(alarm, formula(alarm.expression), failures))
    return found


def _owner(metric: Metric, short: Mapping[str, str], site: str, alarm: str) -> str:
    dimensions = dict(metric.dimensions)
    if metric.name in _SIZES and dimensions.get("AutoScalingGroupName") in short:
        return short[dimensions["AutoScalingGroupName"]]
    if metric.name == METRIC_BOOT_FAILED and dimensions.get(DIMENSION_SITE) == site:
        return dimensions[DIMENSION_GROUP]
    raise ValueError(f"alarm {alarm}: metric {metric.name} of {dimensions} isn't played here")


def poke(site: Site, group: GroupState) -> None:
    """Something that alarms read has changed: look as soon as one of them could begin to ring."""
    for state in site.alarms.get(group.name, ()):
        if not state.due and (group.failed_boots or not state.of_failures):
            _plan(site, group, state, max(0, state.alarm.needed - 1) * state.alarm.period_s + _MINUTE)


def _plan(site: Site, group: GroupState, state: AlarmState, seconds: int) -> None:
    state.due = True
    minute = (site.now + seconds) // _MINUTE * _MINUTE
    site.queue.at(minute + (_MINUTE if minute <= site.now else 0), _look, site, group, state)


def _look(site: Site, group: GroupState, state: AlarmState) -> None:
    state.due = False
    alarm = state.alarm
    breaching = sum(value >= alarm.threshold for value in _values(site.now, group, state))
    rings = breaching >= alarm.needed
    if rings != state.ringing:
        state.ringing = rings
        word = f"is in alarm: {meaning(alarm)}" if rings else "is fine again"
        site.tell("alarm", f"{alarm.name} {word}", group.name)
    if rings:
        _act(site, group, alarm)
        _plan(site, group, state, _MINUTE)
    elif breaching:
        _plan(site, group, state, max(_MINUTE, (alarm.needed - breaching) * alarm.period_s))
    _forget(site, group)


def meaning(alarm: Alarm) -> str:
    """What has gone on for how long when it rings, by what it reads."""
    names = {metric.name for metric in alarm.metrics}
    minutes = alarm.needed * alarm.period_s // _MINUTE
    if names == {METRIC_BOOT_FAILED}:
        return f"{alarm.threshold:g} failed boots within {minutes} minutes"
    if "GroupPendingInstances" in names:
        return f"nodes are billed and none got ready, for {minutes} minutes"
    return f"fewer nodes in service than wanted, for {minutes} minutes"


def _act(site: Site, group: GroupState, alarm: Alarm) -> None:
    """An alarm goes on running its policies every minute while it rings."""
    for policy in group.group.policies:
        if policy.arn in alarm.actions and group.desired != policy.exactly:
            before = group.desired
            resize(site, group, policy.exactly, f"alarm {alarm.name}")
            says = f"{alarm.name} ran its policy {policy.name}: size {before} → {group.desired}"
            site.tell("policy", says, group.name)
            site.settle(site, group)


def _values(now: int, group: GroupState, state: AlarmState) -> Iterator[float]:
    """The expression's value in each period of the window that ends now."""
    alarm = state.alarm
    for back in range(alarm.periods, 0, -1):
        low = now - back * alarm.period_s
        inputs = {metric.id: _of(metric, group, low, low + alarm.period_s) for metric in alarm.metrics}
        yield state.expression(inputs)


def _of(metric: Metric, group: GroupState, low: int, high: int) -> float:
    if metric.name == METRIC_BOOT_FAILED:
        return float(sum(low <= at < high for at in group.failed_boots))
    return float(_largest(group.sizes, _SIZES[metric.name], low, high))


def _largest(sizes: list[Sizes], what: str, low: int, high: int) -> int:
    """The largest of the samples that the group sends at each full minute."""
    largest, until = 0, high
    for one in reversed(sizes):
        first = max(low, one.at)
        if -(-first // _MINUTE) * _MINUTE < until:
            largest = max(largest, getattr(one, what))
        if one.at <= low:
            break
        until = min(until, one.at)
    return largest


def _forget(site: Site, group: GroupState) -> None:
    """What no window can reach any more."""
    reach = max((each.alarm.periods * each.alarm.period_s for each in site.alarms[group.name]), default=0)
    horizon = site.now - reach
    while len(group.sizes) > 1 and group.sizes[1].at <= horizon:
        del group.sizes[0]
    while group.failed_boots and group.failed_boots[0] < horizon:
        del group.failed_boots[0]

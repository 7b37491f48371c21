"""What is wrong with a site, judged from the facts: problems end with status 1, warnings don't."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from nightshift.cli.live import LiveGroup
from nightshift.cli.status_facts import StatusFacts
from nightshift.cli.turns import repeat, wrong_turns
from nightshift.cli.when import ahead
from nightshift.plan.calendar import Calendar
from nightshift.plan.override import WAKE_END
from nightshift.plan.shifts import compile_actions

_LATE = timedelta(minutes=10)
"""AWS fires a scheduled action up to two minutes late; a launch then takes minutes."""
_OLD = timedelta(days=7)
_HARMLESS = {"AZRebalance", "InstanceRefresh"}
_GONE = {"shutting-down", "terminated", "stopped", "stopping"}


@dataclass(frozen=True)
class Verdict:
    """One finding about a group or the site."""

    level: Literal["problem", "warning"]
    says: str


def judge(facts: StatusFacts, calendars: dict[str, Calendar]) -> list[Verdict]:
    """Every finding, groups in the file's order."""
    found = [Verdict("problem", says) for says in facts.spoken.unreadable]
    for name, calendar in calendars.items():
        live = facts.groups.get(name)
        if live is None:
            if facts.groups:
                found.append(Verdict("warning", f"{name}: isn't deployed yet: run `pulumi up`"))
            continue
        found += _suspended(live) + _launches(facts, live) + _nodes(facts, live)
        found += _calendar(facts, calendar, live) + _actions(calendar, live)
        found += [Verdict("problem", says) for says in wrong_turns(calendar, live, facts.now)]
    return found


def _suspended(live: LiveGroup) -> list[Verdict]:
    return [
        Verdict("problem", f"{live.name}: {process} is suspended: {reason or 'no reason given'}")
        for process, reason in live.suspended.items()
        if process not in _HARMLESS
    ]


def _launches(facts: StatusFacts, live: LiveGroup) -> list[Verdict]:
    failed = facts.failed.get(live.name)
    if failed is None or facts.now - failed.at > _OLD:
        return []
    waiting = len(live.nodes) < live.desired
    level: Literal["problem", "warning"] = "problem" if waiting and not failed.since_then else "warning"
    later = "; a later launch succeeded" if failed.since_then else ""
    return [
        Verdict(level, f"{live.name}: launch failed {ahead(facts.now - failed.at)} ago: {failed.why}{later}")
    ]


def _nodes(facts: StatusFacts, live: LiveGroup) -> list[Verdict]:
    found = []
    for node in live.nodes:
        machine, ready = facts.machines.get(node.id), facts.spoken.readiness.get(node.id)
        if node.state.startswith("Terminat"):
            continue
        if machine is None or machine.state in _GONE or not node.healthy:
            state = machine.state if machine else "gone"
            health = "" if node.healthy else ", unhealthy"
            found.append(
                Verdict("problem", f"{live.name}: node {node.id} is dead ({state}{health}); it gets replaced")
            )
        elif ready and not ready.ready:
            found.append(
                Verdict("problem", f"{live.name}: node {node.id} isn't ready: {ready.failed}: {ready.says}")
            )
        elif machine.idle:
            way = f"`nightshift sleep {live.name}` ends it"
            found.append(Verdict("warning", f"{live.name}: node {node.id} is idle: {machine.idle}; {way}"))
    return found


def _calendar(facts: StatusFacts, calendar: Calendar, live: LiveGroup) -> list[Verdict]:
    """The group against what shifts and override say; quiet near an edge and when a run is done."""
    should = calendar.is_up(facts.now)
    settled = calendar.is_up(facts.now - _LATE) == should
    run = facts.spoken.runs.get(live.name)
    if not settled or (run and run.done and not live.desired):
        return []
    if should and not live.desired:
        way = _carried_out(facts, calendar, live, "up") or f"nightshift wake {live.name}"
        return [Verdict("warning", f"{live.name}: down inside its shift; `{way}` starts it now")]
    if live.desired and not should:
        way = _carried_out(facts, calendar, live, "down") or f"nightshift sleep {live.name}"
        return [Verdict("problem", f"{live.name}: up outside its shifts; `{way}` ends it now")]
    return []


def _carried_out(facts: StatusFacts, calendar: Calendar, live: LiveGroup, state: str) -> str | None:
    """The verb that carries out the override in force, where that is what the group doesn't follow."""
    override = calendar.override
    if override is None or override.state != state or not override.in_force(facts.now):
        return None
    return repeat(live.name, override, calendar.zone)


def _actions(calendar: Calendar, live: LiveGroup) -> list[Verdict]:
    compiled = compile_actions(calendar.shifts, calendar.zone, calendar.nodes)
    wanted = {one.name: (one.recurrence, one.time_zone, one.desired) for one in compiled}
    have = {
        one.name: (one.recurrence, one.time_zone, one.desired)
        for one in live.actions.values()
        if one.name != WAKE_END
    }
    if wanted == have:
        return []
    return [Verdict("warning", f"{live.name}: its deployed schedule isn't the stack file's: run `pulumi up`")]

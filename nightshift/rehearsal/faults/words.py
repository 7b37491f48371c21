"""An operator's word in the rehearsed time: hold, wake and sleep do what their verbs' own plan says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bootstrap.lifecycle import guard
from nightshift.plan.calendar import Calendar
from nightshift.plan.errors import PlanError
from nightshift.plan.override import ActionPut, VerbPlan, plan_hold, plan_sleep, plan_wake
from nightshift.rehearsal.control import schedules
from nightshift.rehearsal.control.site import Site, resize
from nightshift.rehearsal.control.state import GroupState
from nightshift.rehearsal.world.model import ScheduledAction

HOLD, WAKE = timedelta(days=2), timedelta(hours=3)
_PLANS: Mapping[str, Callable[[Calendar, datetime], VerbPlan]] = {
    "hold": lambda calendar, now: plan_hold(calendar, now, now + HOLD),
    "wake": lambda calendar, now: plan_wake(calendar, now, now + WAKE),
    "sleep": lambda calendar, now: plan_sleep(calendar, now),
}


def say(site: Site, group: GroupState, word: str) -> str:
    """Do what the verb does; what it said, or why it refused."""
    manifest, now = group.group.manifest, datetime.fromtimestamp(site.now, UTC)
    plain = guard.calendar_of(manifest, None)
    calendar = replace(plain, override=site.overrides.get(group.name))
    try:
        verb = _PLANS[word](calendar, now)
    except PlanError as error:
        return f"the verb refused: {error}"
    _act(site, group, verb, calendar.zone)
    told = "; ".join(verb.says)
    site.tell("override", f"{word}: {told}", group.name)
    return told


def _act(site: Site, group: GroupState, verb: VerbPlan, zone: str) -> None:
    """As the command line: record, scheduled actions, size."""
    if verb.override is not None:
        site.overrides[group.name] = verb.override
        site.watch.reworded(site, group, verb.override)
    actions = {action.name: action for action in group.actions}
    actions |= {put.name: _put(put, zone) for put in verb.puts}
    group.actions = tuple(action for action in actions.values() if action.name not in verb.deletes)
    schedules.follow(site, group, group.actions, site.now + 1)
    if verb.desired is not None:
        resize(site, group, verb.desired, "override")
        site.settle(site, group)


def _put(put: ActionPut, zone: str) -> ScheduledAction:
    start = None if put.start_time is None else int(put.start_time.timestamp())
    return ScheduledAction(put.name, put.recurrence, put.time_zone or zone, put.desired, start=start)

"""What the verbs hold, wake, sleep and resume put on a group: decided here, done by the command line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from nightshift.plan.calendar import Calendar, Override
from nightshift.plan.errors import PlanError
from nightshift.plan.instants import first_instant, local_text, require_aware, zone_of
from nightshift.plan.shifts import Action, compile_actions, is_whole_week, week_windows

WAKE_END = "wake-end"
_SECOND = timedelta(seconds=1)
_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class ActionPut:
    """One scheduled action to put. `recurrence` is None for a one-off, which fires at `start_time`."""

    name: str
    recurrence: str | None
    time_zone: str | None
    desired: int
    start_time: datetime | None


@dataclass(frozen=True)
class VerbPlan:
    """What one verb writes: the record (None deletes it), actions to put and delete, the desired size
    (None leaves it) and the sentences to say. Deleting an action that's gone already is no error."""

    override: Override | None
    puts: tuple[ActionPut, ...]
    deletes: tuple[str, ...]
    desired: int | None
    says: tuple[str, ...]


def action_start_times(calendar: Calendar, now: datetime) -> dict[str, datetime]:
    """The StartTime of each regular action that must not fire at its next turn, by action name.

    Under a `down`, up actions that would fire before `until` start at their first turn from `until` on
    (a whole week's single action at `until` itself); under an `up`, down actions likewise. AWS runs an
    action at its StartTime and by its recurrence from there. No two actions of one answer share a start.
    Empty without an override in force.
    """
    override = calendar.override
    if override is None or not override.in_force(now):
        return {}
    moved = _moved(calendar, override)
    whole_week = is_whole_week(week_windows(calendar.shifts))
    starts: dict[str, datetime] = {}
    for action in moved:
        if not whole_week and next_firing(action, now + _SECOND) >= override.until:
            continue
        start = override.until if whole_week else next_firing(action, override.until)
        while start in starts.values():
            start = next_firing(action, start + _MINUTE)
        starts[action.name] = start
    return starts


def plan_hold(calendar: Calendar, now: datetime, until: datetime) -> VerbPlan:
    """Keep the group down until `until`, from now on, whatever runs. Raises PlanError for a past `until`.

    An earlier hold may have died after its record: the calendar says down then, and nodes run.
    """
    held = _under(calendar, "down", now, until)
    zone = zone_of(calendar.zone)
    says = [f"held down until {local_text(held.until, zone)}", _next_up(calendar, held)]
    return _verb(calendar, now, held, 0, says)


def plan_wake(calendar: Calendar, now: datetime, until: datetime) -> VerbPlan:
    """Bring the group up now until `until`, or until the end of the shift in which `until` falls."""
    wake = _under(calendar, "up", now, until)
    after = replace(calendar, override=wake).next_event(now)
    ends = local_text(after.at, zone_of(calendar.zone)) if after else "never: its shifts fill the week"
    says = [f"up now with {counted(calendar.nodes)}, down again: {ends}"]
    return _verb(calendar, now, wake, calendar.nodes, says)


def counted(nodes: int) -> str:
    """For people."""
    return "1 node" if nodes == 1 else f"{nodes} nodes"


def plan_sleep(calendar: Calendar, now: datetime, until: datetime | None = None) -> VerbPlan:
    """Take the group down now; without `until`, up to the next shift start. A longer hold keeps its end.

    Raises PlanError for a past `until`, or none where no shift start is coming.
    """
    if until is None:
        until = _next_shift_start(calendar, now)
    asleep = _under(calendar, "down", now, until)
    says = ["down now"]
    held = calendar.override
    if held and held.state == "down" and held.until > asleep.until:
        asleep = held
        end = local_text(held.until, zone_of(calendar.zone))
        says.append(f"stays down until {end} as said before; only `hold` or `resume` ends that earlier")
    return _verb(calendar, now, asleep, 0, [*says, _next_up(calendar, asleep)])


def plan_resume(calendar: Calendar, now: datetime) -> VerbPlan:
    """Let the shifts speak again: the record goes, every moved action gets its next turn back."""
    plain = calendar.without_override()
    up = plain.is_up(now)
    after = plain.next_event(now)
    zone = zone_of(calendar.zone)
    says = [f"the shifts speak again: {'up now' if up else 'down now'}"]
    if after:
        says.append(f"next: {after.kind} at {local_text(after.at, zone)}")
    return _verb(calendar, now, None, calendar.nodes if up else 0, says)


def next_firing(action: Action, at: datetime) -> datetime:
    """The first instant from `at` on at which `action` fires; gaps and folds as the calendar has them."""
    zone = zone_of(action.time_zone)
    local = require_aware(at, "at").astimezone(zone).replace(tzinfo=None, fold=0)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    monday = midnight - timedelta(days=local.weekday()) - 7 * _DAY
    for week in range(5):
        for minute in action.week_minutes:
            instant, _ = first_instant(monday + timedelta(weeks=week, minutes=minute), zone)
            if instant >= at:
                return instant
    raise ValueError(f"{action.name}: no firing within three weeks of {at.isoformat()}")


def _verb(
    calendar: Calendar, now: datetime, wanted: Override | None, desired: int | None, says: Iterable[str]
) -> VerbPlan:
    """The puts that turn what the old record asked for into what the new one does."""
    old = action_start_times(calendar, now)
    after = replace(calendar, override=wanted)
    new = action_start_times(after, now)
    puts = []
    for action in compile_actions(calendar.shifts, calendar.zone, calendar.nodes):
        if old.get(action.name) != new.get(action.name):
            start = new.get(action.name) or next_firing(action, now + _SECOND)
            puts.append(ActionPut(action.name, action.recurrence, action.time_zone, action.desired, start))
    one_off = wake_end(after)
    if one_off:
        puts.append(one_off)
    had = calendar.override and calendar.override.in_force(now) and wake_end(calendar)
    return VerbPlan(wanted, tuple(puts), (WAKE_END,) if had and not one_off else (), desired, tuple(says))


def wake_end(calendar: Calendar) -> ActionPut | None:
    """The one-off down of a wake, unless a shift contains its end or a regular down fires right then."""
    override = calendar.override
    if override is None or override.state != "up":
        return None
    plain = calendar.without_override()
    ends_anyway = any(
        event.kind == "down" for event in plain.events(override.until, override.until + _MINUTE)
    )
    if plain.is_up(override.until) or ends_anyway:
        return None
    return ActionPut(WAKE_END, None, None, 0, override.until)


def _moved(calendar: Calendar, override: Override) -> list[Action]:
    actions = compile_actions(calendar.shifts, calendar.zone, calendar.nodes)
    return [action for action in actions if (action.desired > 0) == (override.state == "down")]


def _under(calendar: Calendar, state: str, now: datetime, until: datetime) -> Override:
    at = require_aware(until, "until").replace(second=0, microsecond=0)
    if at <= now:
        zone = zone_of(calendar.zone)
        given, clock = local_text(at, zone), local_text(now, zone)
        raise PlanError(f"until: given {given}, which isn't after now ({clock}); give a later time")
    return Override("up" if state == "up" else "down", at)


def _next_shift_start(calendar: Calendar, now: datetime) -> datetime:
    plain = calendar.without_override()
    event = plain.next_event(now)
    while event and event.kind == "down":
        event = plain.next_event(event.at)
    if event is None:
        raise PlanError("sleep: no shift start is coming for this group; say until when")
    return event.at


def _next_up(calendar: Calendar, override: Override) -> str:
    event = replace(calendar, override=override).next_event(override.until - timedelta(seconds=1))
    return f"next up: {event.local}" if event else "no shift brings it up after that"

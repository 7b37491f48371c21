"""Whether a group's scheduled actions fire when its shifts, and the override in force, ask for it.

A killed verb, or two at once, leave actions moved that no record asks for, or a record that no action
follows. AWS fills in the next turn of every recurring action itself, so only a turn that is later or
earlier than any that AWS could have come to is a wrong one.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from nightshift.cli.live import LiveAction, LiveGroup
from nightshift.cli.when import iso
from nightshift.plan.calendar import Calendar, Override
from nightshift.plan.instants import MINUTES_PER_DAY, first_instant, local_text, zone_of
from nightshift.plan.override import WAKE_END, action_start_times, next_firing, wake_end
from nightshift.plan.shifts import Action, compile_actions, is_whole_week, week_windows

_FIRING = timedelta(minutes=2)
"""AWS fires a scheduled action up to two minutes late, and a clock here may differ from AWS's."""
_FOLD = timedelta(hours=2)
"""The most that clocks go back by: AWS doesn't say in which pass it fires. Moved turns lie a day apart."""
_MINUTE = timedelta(minutes=1)


def wrong_turns(calendar: Calendar, live: LiveGroup, now: datetime) -> list[str]:
    """A sentence for each action that fires too late or too early, with the verb that heals it."""
    starts = action_start_times(calendar, now)
    heal = _heal(live.name, calendar, now)
    found = []
    for action in compile_actions(calendar.shifts, calendar.zone, calendar.nodes):
        have = live.actions.get(action.name)
        if have is None or have.start is None:
            continue
        if (have.recurrence, have.time_zone) != (action.recurrence, action.time_zone):
            continue
        due = starts.get(action.name)
        latest = _latest(calendar, action, due, now)
        if have.start > latest + _FOLD or (due is not None and have.start < due - _FOLD):
            zone = zone_of(calendar.zone)
            turn, asked = local_text(have.start, zone), local_text(due or latest, zone)
            found.append(f"{live.name}: action {action.name} fires next {turn}, not {asked}: {heal}")
    one_off = _one_off(calendar, live.actions.get(WAKE_END), now)
    return [*found, *([f"{live.name}: {one_off}: {heal}"] if one_off else [])]


def _latest(calendar: Calendar, action: Action, due: datetime | None, now: datetime) -> datetime:
    """The last instant to which AWS may have come by itself, or to which the override moved the action."""
    if due is None or due <= now + _FIRING:
        return _sure_turn(action, now + _FIRING)
    override = calendar.override
    if override is None or is_whole_week(week_windows(calendar.shifts)):
        return due
    return max(due, _sure_turn(action, override.until))


def _sure_turn(action: Action, at: datetime) -> datetime:
    """The first turn that clocks don't skip: AWS doesn't say what it does with one that they do."""
    turn = next_firing(action, at)
    while _week_minute(turn.astimezone(zone_of(action.time_zone))) not in action.week_minutes:
        turn = next_firing(action, turn + _MINUTE)
    return turn


def _week_minute(local: datetime) -> int:
    return local.weekday() * MINUTES_PER_DAY + local.hour * 60 + local.minute


def _one_off(calendar: Calendar, have: LiveAction | None, now: datetime) -> str | None:
    """What is wrong with the end of a wake."""
    zone = zone_of(calendar.zone)
    override = calendar.override
    wanted = wake_end(calendar) if override and override.in_force(now + _FIRING) else None
    if wanted and wanted.start_time and (have is None or have.start != wanted.start_time):
        return f"no action ends its wake at {local_text(wanted.start_time, zone)}"
    stray = have is not None and have.start is not None and have.start > now + _FIRING
    if wanted is None and have and have.start and stray:
        return f"action {WAKE_END} takes it down at {local_text(have.start, zone)}, which no wake asks for"
    return None


def _heal(group: str, calendar: Calendar, now: datetime) -> str:
    override = calendar.override
    resume = f"`nightshift resume {group}`"
    if override is None or not override.in_force(now):
        return f"{resume} puts it right"
    return f"`{repeat(group, override, calendar.zone)}` puts it right, {resume} ends the override"


def repeat(group: str, override: Override, zone: str) -> str:
    """The command that says this override again; its end in the group's zone where that means it."""
    local = override.until.astimezone(zone_of(zone)).replace(tzinfo=None, fold=0)
    words = f"{local:%Y-%m-%d %H:%M}"
    if first_instant(local, zone_of(zone))[0] != override.until:
        words = iso(override.until)
    verb = "wake" if override.state == "up" else "hold"
    return f'nightshift {verb} {group} --until "{words}"'

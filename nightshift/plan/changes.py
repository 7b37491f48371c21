"""What a change of the stack file would do to what runs right now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nightshift.plan.calendar import Calendar
from nightshift.plan.instants import local_text, zone_of
from nightshift.plan.override import counted, next_firing, wake_end
from nightshift.plan.shifts import Action

NEAR = timedelta(minutes=5)
"""AWS may run an action up to 2 minutes late; deploying takes the rest."""


@dataclass(frozen=True)
class RunningGroup:
    """A live group: the nodes in it that aren't gone, and its desired size."""

    running: int
    desired: int


def running_conflicts(declared: Mapping[str, int], live: Mapping[str, RunningGroup]) -> tuple[str, ...]:
    """Why the change would end running nodes: `declared` is group -> nodes of the file, `live` what runs."""
    problems = []
    for name, group in sorted(live.items()):
        busy = max(group.running, group.desired)
        if not busy:
            continue
        if name not in declared:
            problems.append(
                f"group {name}: the file no longer names it and {counted(busy)} of it run; "
                f"run `nightshift sleep {name}` and wait for the drain, then deploy"
            )
        elif declared[name] < busy:
            problems.append(
                f"group {name}: the file gives nodes: {declared[name]} and {counted(busy)} of it run; "
                f"deploy after its shift, or run `nightshift sleep {name}` first"
            )
    return tuple(problems)


Names = tuple[str, ...]


def changed_actions(live: Sequence[Action], wanted: Sequence[Action]) -> tuple[Names, Names]:
    """Names to put (new or different) and names to delete, in order."""
    before = {action.name: action for action in live}
    after = {action.name: action for action in wanted}
    puts = tuple(name for name, action in after.items() if before.get(name) != action)
    return puts, tuple(name for name in before if name not in after)


def near_firings(live: Sequence[Action], wanted: Sequence[Action], now: datetime) -> tuple[str, ...]:
    """Warnings for changed actions whose old or new turn comes within minutes of `now`."""
    puts, deletes = changed_actions(live, wanted)
    warnings = {}
    for action in (*live, *wanted):
        if action.name not in puts and action.name not in deletes:
            continue
        at = next_firing(action, now - NEAR)
        if at <= now + NEAR:
            when = local_text(at, zone_of(action.time_zone))
            warnings[action.name] = (
                f"action {action.name} changes within {NEAR.seconds // 60} minutes of its turn ({when}): "
                "it may run twice or not at all; check `nightshift status` afterwards"
            )
    return tuple(warnings.values())


def wake_hint(group: str, calendar: Calendar, running: int, now: datetime) -> str | None:
    """What to say when a deploy falls inside a shift and the group is down: shifts act at their edges."""
    if running or not calendar.is_up(now):
        return None
    ends = calendar.next_event(now)
    until = f" --until {ends.at:%Y-%m-%dT%H:%MZ}" if ends else ""
    return (
        f"group {group} is inside a shift and down: shifts act at their start; "
        f"`nightshift wake {group}{until}` starts it now"
    )


def wake_end_hint(group: str, calendar: Calendar, live: datetime | None, now: datetime) -> str | None:
    """What to say when a deploy changes the shifts under a wake, so that it would end at another time.

    `live` is when the wake's one-off down fires, None without one.
    """
    override = calendar.override
    if override is None or override.state != "up" or not override.in_force(now):
        return None
    wanted = wake_end(calendar)
    if live == (wanted.start_time if wanted else None):
        return None
    until = local_text(override.until, zone_of(calendar.zone))
    why = f"ends in the middle of a shift ({until})" if live else f"has nothing that ends it ({until})"
    return (
        f"group {group} is awake, and with these shifts its wake {why}; "
        f"run `nightshift wake {group} --until {override.until:%Y-%m-%dT%H:%MZ}` after the deploy"
    )

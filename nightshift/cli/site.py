"""The stack's groups as calendars, with the overrides that the operators wrote."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from nightshift.cli.errors import CliError, UsageError
from nightshift.cli.text import wrap
from nightshift.cli.when import iso, who
from nightshift.plan.calendar import Calendar, Event, Override
from nightshift.plan.capacity import CapacityPlan
from nightshift.plan.instants import local_text, zone_of
from nightshift.records.model import OverrideRecord

if TYPE_CHECKING:
    from nightshift.settings.models import Stack


def calendars(stack: Stack, overrides: Mapping[str, OverrideRecord]) -> dict[str, Calendar]:
    """Each group's calendar, in the stack file's order."""
    return {name: calendar(stack, name, overrides.get(name)) for name in stack.groups}


def calendar(stack: Stack, group: str, record: OverrideRecord | None = None) -> Calendar:
    """One group's calendar under its override."""
    from nightshift.settings.to_plan import calendar_of

    override = Override(record.state, record.until) if record else None
    return calendar_of(stack.site, stack.groups[group], override)


def capacity_of(stack: Stack, group: str) -> CapacityPlan:
    """How one group buys its nodes."""
    from nightshift.settings.to_plan import capacity_plan

    return capacity_plan(stack.region, stack.groups[group])


def arch_of(stack: Stack) -> str:
    """The CPU architecture of every group, for which the one image must be made. Raises CliError."""
    kinds = {capacity_of(stack, group).arch for group in stack.groups}
    if len(kinds) > 1:
        raise CliError(f"the groups' types are of {', '.join(sorted(kinds))}: one image can't serve them")
    return kinds.pop()


def known_groups(stack: Stack, asked: list[str]) -> list[str]:
    """`asked` without repeats; raises UsageError for one the stack file doesn't have."""
    unknown = [name for name in asked if name not in stack.groups]
    if unknown:
        from difflib import get_close_matches

        close = get_close_matches(unknown[0], stack.groups, 1)
        hint = f" Did you mean {close[0]}?" if close else ""
        listed = ", ".join(unknown)
        raise UsageError(f"no group {listed} in this stack: it has {', '.join(stack.groups)}.{hint}")
    return list(dict.fromkeys(asked))


def event_data(event: Event | None) -> dict[str, object] | None:
    """An event as JSON answers write it."""
    if event is None:
        return None
    return {
        "at": iso(event.at),
        "local": event.local,
        "kind": event.kind,
        "desired": event.desired,
        "cause": event.cause,
        "flags": list(event.flags),
    }


def override_data(record: OverrideRecord | None, now: datetime) -> dict[str, object] | None:
    """An override in force as JSON answers write it; None once it is past."""
    if record is None or not record.in_force(now):
        return None
    return {"state": record.state, "until": iso(record.until), "by": record.by, "at": iso(record.at)}


def override_lines(group: str, record: OverrideRecord | None, calendar: Calendar, now: datetime) -> list[str]:
    """An override in force as people read it; nothing once it is past."""
    if record is None or not record.in_force(now):
        return []
    until = local_text(record.until, zone_of(calendar.zone))
    return wrap(f"{group}: override: {record.state} until {until}, by {who(record.by)}", 2)

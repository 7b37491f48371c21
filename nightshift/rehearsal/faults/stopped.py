"""An alarm took a group to 0 for the rest of its shift: why, until when, and who brings it up before."""

from __future__ import annotations

from collections.abc import Sequence

from nightshift.rehearsal.control.alarms import meaning
from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.expect import GroupExpect
from nightshift.rehearsal.invariants.spans import around, upcoming
from nightshift.rehearsal.report.words import Clock, count, length
from nightshift.rehearsal.story import Event

_PLAYED = " (rehearsed)"
_NEXT_S = 80_000
"""Somewhat less than the shortest day, since nobody types at once."""


def stopped_says(
    site: Site, group: GroupExpect, events: Sequence[Event], policy: Event, without_s: int
) -> str:
    """`events` are the group's after the fault, `policy` the one in which the alarm acted.

    `without_s`: so many seconds of the shift went by without its nodes.
    """
    boots = [one for one in events if one.kind == "boot-failed" and one.at <= policy.at]
    shift = around(group.windows, policy.at)
    lost = f"; {length(without_s)} of the shift went by without a node" if without_s else ""
    return (
        f"{_failed(boots)}, so the alarm {_alarm(site, group, policy)} set the group to 0 nodes at "
        f"{_clock(group, policy.at)}{lost}. {_next(site, group, shift, policy.at)}"
    )


def _failed(boots: Sequence[Event]) -> str:
    if not boots:
        return "no node got ready"
    found = boots[-1].says.removeprefix("readiness: ").removesuffix(_PLAYED)
    return f"{count(len(boots), 'node')} gave up before they were ready (the last one found: {found})"


def _alarm(site: Site, group: GroupExpect, policy: Event) -> str:
    name = policy.says.partition(" ran ")[0]
    why = next((meaning(one.alarm) for one in site.alarms[group.name] if one.alarm.name == name), "")
    return f"{name} ({why})" if why else name


def _next(site: Site, group: GroupExpect, shift: tuple[int, int] | None, at: int) -> str:
    """What starts it again."""
    following = upcoming(group.windows, at)
    comes = f"its next shift, {_clock(group, following[0], True)}" if following else "a person does"
    if shift is None:
        return f"Nothing starts it before {comes}."
    until = _until(group, shift[1], at)
    word = f"`nightshift wake {group.name} --until {until} -s {site.world.site}`"
    return f"Nothing starts it before {comes}, but a person can: {word}"


def _until(group: GroupExpect, end: int, now: int) -> str:
    """As `--until` reads it: a clock time alone is its next one."""
    local = Clock(group.zone).local(end)
    return f"{local:%H:%M}" if end - now < _NEXT_S else f'"{local:%Y-%m-%d %H:%M}"'


def _clock(group: GroupExpect, at: int, day: bool = False) -> str:
    """By the group's own clock, with its name: other groups may have another one."""
    local = Clock(group.zone).local(at)
    return f"{Clock(group.zone).day(at) + ' ' if day else ''}{local:%H:%M %Z}"

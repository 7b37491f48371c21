"""Names placed in the rehearsed time: which group, which instant. And faults that the seed chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from nightshift.plan.instants import WEEKDAYS
from nightshift.rehearsal.control.dice import between, pick
from nightshift.rehearsal.expect import Expect, GroupExpect
from nightshift.rehearsal.faults.parse import FaultProblems, Named, OnDay, absolute
from nightshift.rehearsal.faults.table import BOTH_EDGES, KINDS
from nightshift.rehearsal.world.model import Group, World

_AFTER_S = 600
"""A fault named by a shift strikes ten minutes after its end at the latest: nothing is there after that."""


@dataclass(frozen=True)
class Strike:
    """A fault in its place."""

    name: str
    kind: str
    at: int
    group: str


def place(
    faults: Sequence[Named], world: World, expected: Expect, start: int, end: int, seed: int
) -> tuple[Strike, ...]:
    """Every fault in its place, in order of time. Raises FaultProblems with each that has none."""
    problems: list[str] = []
    strikes: list[Strike] = []
    for number, fault in enumerate(faults):
        try:
            strikes.append(_place(fault, world, expected, (start, end), seed, number))
        except FaultProblems as error:
            problems += error.problems
    if problems:
        raise FaultProblems(*problems)
    return tuple(sorted(strikes, key=lambda strike: (strike.at, strike.name)))


def chosen(count: int, world: World, expected: Expect, start: int, end: int, seed: int) -> tuple[Named, ...]:
    """`count` faults that the seed chooses, by names that strike in the same places again."""
    return tuple(_chosen(world, expected, start, end, seed, number) for number in range(count))


def can_hit(kind: str, group: Group) -> bool:
    """Whether the group has what such a fault hits."""
    hits = KINDS[kind].hits
    if hits == "spot node":
        return group.reservation is None and group.on_demand_percent < 100
    return hits != "volumes" or bool(group.manifest.volumes)


def _chosen(world: World, expected: Expect, start: int, end: int, seed: int, number: int) -> Named:
    groups = _in_turn(world, expected, start, end)
    if not groups:
        raise FaultProblems(
            "faults: no shift begins in the rehearsed time; rehearse longer, or from another day"
        )
    struck = groups[number % len(groups)]
    kinds = [kind for kind in KINDS if can_hit(kind, struck)]
    kind, group = kinds[pick(len(kinds), seed, "fault", number)], struck.manifest.group
    at = _moment(kind, expected.groups[group], start, end, seed, number)
    return Named(absolute(kind, at, group), kind, at, group)


def _in_turn(world: World, expected: Expect, start: int, end: int) -> list[Group]:
    """The groups with a shift to strike, in the order in which chance takes them in turn: those with a job
    first, of these the one that is up for longest."""

    def last(group: Group) -> tuple[bool, int]:
        spans = _within(expected.groups[group.manifest.group], start, end)
        return group.manifest.job is None, -sum(high - low for low, high in spans)

    found = [one for one in world.groups if _within(expected.groups[one.manifest.group], start, end)]
    return sorted(found, key=last)


def _within(group: GroupExpect, start: int, end: int) -> list[tuple[int, int]]:
    """The shifts that begin in the rehearsed time, as much of them as lies in it."""
    return [(low, min(high, end)) for low, high in group.windows if start <= low < end]


def _moment(kind: str, group: GroupExpect, start: int, end: int, seed: int, number: int) -> int:
    """Anywhere in a shift; what strikes around an edge by its nature, around one of its edges."""
    spans = _within(group, start, end)
    span = spans[pick(len(spans), seed, "shift", number)]
    about = KINDS[kind].offset_s
    if about < 0:
        edge = span[pick(2 if kind in BOTH_EDGES else 1, seed, "edge", number)]
        return max(start, edge + about - between(0, 600, seed, "about", number))
    return between(span[0], span[1] - 1, seed, "moment", number)


def _place(
    fault: Named, world: World, expected: Expect, span: tuple[int, int], seed: int, number: int
) -> Strike:
    groups = [group for group in world.groups if fault.group in (None, group.manifest.group)]
    if not groups:
        there = ", ".join(group.manifest.group for group in world.groups)
        raise FaultProblems(f"fault {fault.name}: no group {fault.group}; there are {there}")
    fitting = [group.manifest.group for group in groups if can_hit(fault.kind, group)]
    if not fitting:
        raise FaultProblems(f"fault {fault.name}: it hits a {KINDS[fault.kind].hits}, no such group has one")
    for name in fitting:
        at = _at(fault, expected.groups[name], span, seed, number)
        if at is not None:
            return Strike(fault.name, fault.kind, at, name)
    raise FaultProblems(_nowhere(fault, [expected.groups[name] for name in fitting], span))


def _at(fault: Named, group: GroupExpect, span: tuple[int, int], seed: int, number: int) -> int | None:
    """The instant, None where the group has no such shift in time."""
    if isinstance(fault.when, int):
        return fault.when if span[0] <= fault.when < span[1] else None
    if fault.when is None:
        return _moment(fault.kind, group, *span, seed, number) if _within(group, *span) else None
    shift = _shift_on(fault.when, group, span[0])
    if shift is None:
        return None
    offset = KINDS[fault.kind].offset_s if fault.when.offset_s is None else fault.when.offset_s
    at = shift[0] + offset
    return at if span[0] <= at < min(span[1], shift[1] + _AFTER_S) else None


def _shift_on(when: OnDay, group: GroupExpect, start: int) -> tuple[int, int] | None:
    """The group's first shift on that day, by the group's own clock."""
    zone = ZoneInfo(group.zone)
    first = datetime.fromtimestamp(start, UTC).astimezone(zone).date()
    ahead = (WEEKDAYS.index(when.day) - first.weekday()) % 7 + 7 * (when.week - 1)
    day = first + timedelta(days=ahead)
    later = (span for span in group.windows if span[0] >= start)
    return next(
        (span for span in later if datetime.fromtimestamp(span[0], UTC).astimezone(zone).date() == day), None
    )


def _nowhere(fault: Named, groups: Sequence[GroupExpect], span: tuple[int, int]) -> str:
    told = []
    for group in groups:
        zone = ZoneInfo(group.zone)
        days = {
            datetime.fromtimestamp(begun, UTC).astimezone(zone).weekday()
            for begun, _ in group.windows
            if span[0] <= begun < span[1]
        }
        told.append(
            f"{group.name} has shifts on {', '.join(WEEKDAYS[day] for day in sorted(days)) or 'no day'}"
        )
    return f"fault {fault.name}: nothing to hit then in the rehearsed time; {'; '.join(told)}"

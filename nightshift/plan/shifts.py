"""Shifts as the user writes them, the week they make, and the scheduled actions that carry them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import time
from functools import lru_cache
from typing import Literal

from nightshift.catalog.limits import SCHEDULED_ACTIONS_PER_GROUP
from nightshift.plan.errors import PlanError
from nightshift.plan.instants import MINUTES_PER_DAY, MINUTES_PER_WEEK, WEEKDAYS

Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
LEAVE = -1
"""The size that the provider doesn't send; an unset size would be sent as 0."""


@dataclass(frozen=True)
class Shift:
    """One weekly window. `end` not after `start` means the next day; equal means 24 hours."""

    days: tuple[Weekday, ...]
    start: time
    end: time

    def __post_init__(self) -> None:
        """Raises ValueError for no days, an unknown day, or a time finer than a minute."""
        if not self.days or any(day not in WEEKDAYS for day in self.days):
            raise ValueError(f"days: given {list(self.days)}, expected at least one of {', '.join(WEEKDAYS)}")
        for at in (self.start, self.end):
            if at.second or at.microsecond or at.tzinfo is not None:
                raise ValueError(f"given {at.isoformat()}, expected a wall time in whole minutes")


@dataclass(frozen=True, order=True)
class Window:
    """A stretch of the local week in minutes from Monday 00:00; `end` may pass the week's end by `start`."""

    start: int
    end: int


@dataclass(frozen=True)
class Action:
    """One recurring scheduled action: five-field cron in `time_zone`, sizes in nodes, no start time."""

    name: str
    recurrence: str
    time_zone: str
    desired: int
    min_size: int = LEAVE
    max_size: int = LEAVE

    @property
    def week_minutes(self) -> tuple[int, ...]:
        """When the action fires, in minutes from Monday 00:00 of the local week, ascending."""
        minute, hour, _, _, days = self.recurrence.split()
        names = WEEKDAYS if days == "*" else tuple(days.lower().split(","))
        at = int(hour) * 60 + int(minute)
        return tuple(sorted(WEEKDAYS.index(day) * MINUTES_PER_DAY + at for day in names))


def week_windows(shifts: Sequence[Shift]) -> tuple[Window, ...]:
    """The shifts as disjoint windows of a cyclic week; overlapping and touching ones merge.

    A whole week is `(Window(0, 10080),)`. Only a window over the week's end has `end` above 10080.
    """
    return _week_windows(tuple(shifts))


@lru_cache(maxsize=4096)
def _week_windows(shifts: tuple[Shift, ...]) -> tuple[Window, ...]:
    cut = sorted(piece for shift in shifts for piece in _pieces(shift))
    merged = _merge(cut)
    if merged == [(0, MINUTES_PER_WEEK)]:
        return (Window(0, MINUTES_PER_WEEK),)
    if len(merged) > 1 and merged[0][0] == 0 and merged[-1][1] == MINUTES_PER_WEEK:
        last = merged.pop()
        merged = [*merged[1:], (last[0], MINUTES_PER_WEEK + merged[0][1])]
    return tuple(Window(start, end) for start, end in merged)


def _pieces(shift: Shift) -> list[tuple[int, int]]:
    """The shift's windows, cut at the week's end."""
    begin = shift.start.hour * 60 + shift.start.minute
    length = (shift.end.hour * 60 + shift.end.minute - begin - 1) % MINUTES_PER_DAY + 1
    pieces = []
    for day in shift.days:
        start = WEEKDAYS.index(day) * MINUTES_PER_DAY + begin
        end = start + length
        pieces.append((start, min(end, MINUTES_PER_WEEK)))
        if end > MINUTES_PER_WEEK:
            pieces.append((0, end - MINUTES_PER_WEEK))
    return pieces


def _merge(pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in pieces:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def is_whole_week(windows: tuple[Window, ...]) -> bool:
    """True when the group is never down."""
    return windows == (Window(0, MINUTES_PER_WEEK),)


def compile_actions(shifts: Sequence[Shift], zone: str, nodes: int) -> tuple[Action, ...]:
    """The fewest scheduled actions that carry `shifts` for a group of `nodes`, ups first, by clock time.

    One action per clock time and size: its days are merged into one cron list, so a name (`up-2000`,
    `down-0700`) stays when only days change. A whole week is one weekly `up-0000`, which heals a group
    that was put to zero. AWS refuses two actions of one group with the same start time; windows are
    merged before they're compiled, so no two actions here share a minute of the week.
    Raises PlanError above the group's limit of scheduled actions.
    """
    windows = week_windows(shifts)
    if is_whole_week(windows):
        return (Action("up-0000", "0 0 * * MON", zone, nodes),)
    ups = _grouped(window.start for window in windows)
    downs = _grouped(window.end % MINUTES_PER_WEEK for window in windows)
    actions = [_action("up", at, days, zone, nodes) for at, days in ups]
    actions += [_action("down", at, days, zone, 0) for at, days in downs]
    if len(actions) > SCHEDULED_ACTIONS_PER_GROUP.value:
        raise PlanError(_too_many(len(actions)))
    return tuple(actions)


def _grouped(edges: Iterable[int]) -> list[tuple[int, list[int]]]:
    by_clock: dict[int, set[int]] = defaultdict(set)
    for edge in edges:
        by_clock[edge % MINUTES_PER_DAY].add(edge // MINUTES_PER_DAY)
    return [(at, sorted(by_clock[at])) for at in sorted(by_clock)]


def _action(kind: str, at: int, days: list[int], zone: str, desired: int) -> Action:
    hour, minute = divmod(at, 60)
    listed = "*" if len(days) == len(WEEKDAYS) else ",".join(WEEKDAYS[day].upper() for day in days)
    return Action(f"{kind}-{hour:02d}{minute:02d}", f"{minute} {hour} * * {listed}", zone, desired)


def _too_many(count: int) -> str:
    limit = SCHEDULED_ACTIONS_PER_GROUP.value
    return (
        f"shifts: they need {count} scheduled actions, AWS allows {limit} per group; "
        "let shifts share their clock times, or split the group"
    )

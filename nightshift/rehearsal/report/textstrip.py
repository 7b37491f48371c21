"""The rehearsed weeks as text: one row a group, three hours a character."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from nightshift.cli.text import WIDTH
from nightshift.rehearsal.report.nights import Night, stop, union
from nightshift.rehearsal.report.words import Clock
from nightshift.rehearsal.story import Span, Story

LEGEND = "a character is 3 hours: # up, + for a part, x wanted and not up, . down"
_DAYS = 7
_CELLS = 8
_MOST_WEEKS = 4
_MOST_GROUPS = 24
_NAME = 22
_BOOT = 900
"""Wanted for no more than these seconds, a character may be without a node in service."""


def text_strips(story: Story, told: Sequence[Night]) -> list[str]:
    """Rows under the days' names, a block for each seven days; nothing where that is none or too much."""
    if not told or story.weeks > _MOST_WEEKS + 0.2 or len(story.groups) > _MOST_GROUPS:
        return []
    clock = Clock(story.timezone)
    lines, first = [], clock.midnight(story.start)
    while first < story.end:
        days = _days(story, clock, first)
        following = clock.midnight(first, days)
        if any(night.start < following and night.end > first for night in told):
            lines += _week(story, told, clock, first, days)
        first = following
    return lines


def _days(story: Story, clock: Clock, first: int) -> int:
    """A block has seven days, or one more where that is the last and there's room, or what is left."""
    left = next((day for day in range(1, _DAYS + 2) if clock.midnight(first, day) >= story.end), _DAYS)
    return left if left <= _DAYS or _width(story) + 2 + left * _CELLS <= WIDTH else _DAYS


def _width(story: Story) -> int:
    return min(_NAME, max(len(name) for name in story.groups))


def _week(story: Story, told: Sequence[Night], clock: Clock, first: int, count: int) -> list[str]:
    days = [clock.midnight(first, day) for day in range(count + 1)]
    width = _width(story)
    head = "".join(f"{clock.local(day):%a} {clock.local(day).day}".ljust(_CELLS) for day in days[:-1])
    lines = [f"{'':{width}}  {head}".rstrip()]
    for name in story.groups:
        mine = [night for night in told if night.group == name]
        cells = "".join(_cell(mine, span, stop(story)) for day in pairwise(days) for span in _spans(day))
        shown = name if len(name) <= width else f"{name[: width - 1]}…"
        lines.append(f"{shown:{width}}  {cells}")
    return lines


def _spans(day: Span) -> list[Span]:
    edges = [day[0] + (day[1] - day[0]) * cell // _CELLS for cell in range(_CELLS + 1)]
    return list(pairwise(edges))


def _cell(mine: Sequence[Night], cell: Span, end: int) -> str:
    wanted = _covered(((night.start, min(night.end, end)) for night in mine), cell)
    up = _covered(
        (
            (phase.start, phase.end)
            for night in mine
            for node in night.nodes
            for phase in node.phases
            if phase.phase in ("train", "save")
        ),
        cell,
    )
    if not up:
        return "x" if wanted > _BOOT else "."
    return "#" if up >= 0.9 * (cell[1] - cell[0]) else "+"


def _covered(spans: Iterable[Span], cell: Span) -> int:
    """Seconds of the cell that the spans cover."""
    parts = ((max(start, cell[0]), min(end, cell[1])) for start, end in spans)
    return union((start, end) for start, end in parts if start < end)

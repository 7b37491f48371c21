"""The events, week by week, as the page lists them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from nightshift.rehearsal.report.nights import numbered
from nightshift.rehearsal.report.words import Clock
from nightshift.rehearsal.story import Event, Story


@dataclass(frozen=True)
class Row:
    """An event; `number` is that of the fault behind it, `column` the place of its group, 0 for the site."""

    at: str
    group: str
    node: str
    kind: str
    says: str
    fault: str
    number: int | None
    column: int


@dataclass(frozen=True)
class Chapter:
    """The events of seven days; `struck` of them have a fault behind them."""

    title: str
    rows: tuple[Row, ...]
    struck: int


def chapters(story: Story) -> tuple[Chapter, ...]:
    """Every event of the story, in order, by weeks counted from its first local midnight."""
    clock = Clock(story.timezone)
    first = clock.midnight(story.start)
    ordered = sorted(story.events, key=lambda event: event.at)
    found = []
    for week, events in groupby(ordered, key=lambda event: _week(clock, first, event.at)):
        rows = table(story, events)
        opens = clock.midnight(first, 7 * week)
        title = f"{clock.day(opens)} to {clock.day(clock.midnight(opens, 7) - 1)}"
        found.append(Chapter(title, rows, sum(1 for row in rows if row.fault)))
    return tuple(found)


def table(story: Story, events: Iterable[Event]) -> tuple[Row, ...]:
    """Events as rows."""
    clock = Clock(story.timezone)
    numbers = {fault.fault: number for number, fault in reversed(numbered(story))}
    columns = {name: at for at, name in enumerate(story.groups, 1)}
    return tuple(
        Row(
            clock.second(event.at),
            event.group or "",
            event.node or "",
            event.kind,
            event.says,
            event.fault or "",
            numbers.get(event.fault or ""),
            columns.get(event.group or "", 0),
        )
        for event in ordered_copy(events)
    )


def ordered_copy(events: Iterable[Event]) -> list[Event]:
    """By time; those of one second stay as they came."""
    return sorted(events, key=lambda event: event.at)


def _week(clock: Clock, first: int, at: int) -> int:
    return (clock.local(at).date() - clock.local(first).date()).days // 7

"""The events as the page lists them: shift by shift, or week by week where there are many shifts."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from nightshift.rehearsal.report.nights import SHOWN, Night, numbered
from nightshift.rehearsal.report.words import Clock
from nightshift.rehearsal.story import Event, Story

_BEFORE_S, _AFTER_S = 900, 3_600
"""What happens so long before or after a shift is listed with it."""


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
class Share:
    """So many events of a group, `struck` of them with a fault behind them; `says` whose, where it must."""

    column: int
    many: int
    struck: int
    says: str = ""


@dataclass(frozen=True)
class Chapter:
    """Events that are listed together; `column` as in a row when all are one group's. `id`: its place."""

    id: str
    title: str
    rows: tuple[Row, ...]
    shares: tuple[Share, ...]
    column: int | None = None

    @property
    def struck(self) -> int:
        """How many have a fault behind them."""
        return sum(share.struck for share in self.shares)


def chapters(story: Story, told: Sequence[Night] = ()) -> tuple[Chapter, ...]:
    """Every event of the story, in order: by the shifts `told`, else by weeks from its first midnight."""
    ordered = ordered_copy(story.events)
    return _by_shift(story, ordered, told) if told else _by_week(story, ordered)


def _by_shift(story: Story, events: Sequence[Event], told: Sequence[Night]) -> tuple[Chapter, ...]:
    """The shifts in order; what lies in none of them comes last."""
    clock = Clock(story.timezone)
    parts: dict[int | None, list[Event]] = {at: [] for at in range(len(told))} | {None: []}
    starts = {
        name: [(night.start - _BEFORE_S, at) for at, night in enumerate(told) if night.group == name]
        for name in story.groups
    }
    for event in events:
        parts[_home(starts.get(event.group or "", []), told, event.at)].append(event)
    found = []
    for at, mine in parts.items():
        if not mine:
            continue
        night = None if at is None else told[at]
        title = "Between the shifts, and of the whole site"
        if night is not None:
            title = f"{night.group}, {clock.span(night.start, night.end)}, {SHOWN[night.verdict]}"
        found.append(_chapter(story, f"events-{'between' if at is None else at + 1}", title, mine))
    return tuple(found)


def _home(starts: Sequence[tuple[int, int]], told: Sequence[Night], at: int) -> int | None:
    place = bisect_right(starts, (at, 1 << 62)) - 1
    if place < 0:
        return None
    home = starts[place][1]
    return home if at < told[home].end + _AFTER_S else None


def _by_week(story: Story, events: Sequence[Event]) -> tuple[Chapter, ...]:
    clock = Clock(story.timezone)
    first = clock.midnight(story.start)
    found = []
    for week, mine in groupby(events, key=lambda event: _week(clock, first, event.at)):
        opens = clock.midnight(first, 7 * week)
        title = f"{clock.day(opens)} to {clock.day(clock.midnight(opens, 7) - 1)}"
        found.append(_chapter(story, f"events-week-{week + 1}", title, list(mine)))
    return tuple(found)


def _chapter(story: Story, place: str, title: str, events: Sequence[Event]) -> Chapter:
    rows = table(story, events)
    many, struck = Counter(row.column for row in rows), Counter(row.column for row in rows if row.fault)
    names = ["the site", *story.groups]
    alone = len(many) == 1
    shares = tuple(
        Share(column, many[column], struck[column], "" if alone else f" of {names[column]}")
        for column in sorted(many, key=lambda column: column or len(names))
    )
    return Chapter(place, title, rows, shares, shares[0].column if alone else None)


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

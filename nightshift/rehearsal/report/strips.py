"""The weeks as strips: the calendar's windows behind, the nodes' lives in front, what struck above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from nightshift.rehearsal.report import svg
from nightshift.rehearsal.report.lanes import at_work, clipped, joined, lanes, slim, within
from nightshift.rehearsal.report.marks import Mark, drawn, marks
from nightshift.rehearsal.report.nights import nights, stop
from nightshift.rehearsal.report.words import Clock
from nightshift.rehearsal.story import GroupInfo, NodeLife, Span, Story

_DAYS = 7
LOOSE = 4
"""Up to this many weeks have strips with room for text; more are drawn close together."""


@dataclass(frozen=True)
class Strip:
    """One week's picture under its title, and what is odd about its clocks."""

    title: str
    picture: Markup
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Book:
    """The story, looked up by group."""

    story: Story
    clock: Clock
    nodes: dict[str, list[NodeLife]]
    marks: dict[str | None, list[Mark]]
    lost: frozenset[tuple[str, int]]
    stop: int

    @property
    def groups(self) -> dict[str, GroupInfo]:
        """Every group by name."""
        return self.story.groups


@dataclass(frozen=True)
class _Week:
    """A strip's span, in instants, and the local midnights in it."""

    book: _Book
    span: Span
    days: tuple[int, ...]
    close: bool
    headed: bool

    @property
    def wide(self) -> int:
        """The whole width in seconds."""
        return self.span[1] - self.span[0]

    def place(self, at: int) -> str:
        """Where an instant stands."""
        return svg.percent(at - self.span[0], self.wide)

    def shift(self, span: Span) -> Span:
        """The span counted from the strip's left edge."""
        return (span[0] - self.span[0], span[1] - self.span[0])

    @property
    def clock(self) -> Clock:
        """The site's wall time."""
        return self.book.clock

    def alive(self, group: str) -> list[NodeLife]:
        """The group's nodes that live in this week."""
        return within(self.book.nodes[group], self.span, self.book.stop)

    def cut(self, start: int, end: int) -> list[Span]:
        """The part in this week, counted from its left edge; at most one."""
        part = clipped(start, end, self.span)
        return [self.shift(part)] if part else []


def strips(story: Story) -> tuple[Strip, ...]:
    """One strip for each seven local days; a single week that begins inside a day has eight."""
    clock = Clock(story.timezone)
    midnights = [clock.midnight(story.start)]
    while midnights[-1] < story.end:
        midnights.append(clock.midnight(midnights[-1], 1))
    days = len(midnights) - 1
    each = days if days == _DAYS + 1 else _DAYS
    starts = range(0, days, each)
    book = _book(story, clock)
    close = len(starts) > LOOSE
    weeks = (_week(book, midnights[at], each, close, headed=not close or at == 0) for at in starts)
    return tuple(_strip(week) for week in weeks)


def _book(story: Story, clock: Clock) -> _Book:
    nodes: dict[str, list[NodeLife]] = {name: [] for name in story.groups}
    for node in story.nodes:
        nodes.setdefault(node.group, []).append(node)
    lost = frozenset((night.group, night.start) for night in nights(story) if night.verdict == "failed")
    return _Book(story, clock, nodes, marks(story), lost, stop(story))


def _week(book: _Book, first: int, days: int, close: bool, headed: bool) -> _Week:
    edges = [book.clock.midnight(first, day) for day in range(days + 1)]
    return _Week(book, (edges[0], edges[-1]), tuple(edges), close, headed)


def _strip(week: _Week) -> Strip:
    bands, y = [], 22.0 if week.headed else 3.0
    for name in week.book.groups:
        drawn, height = _band(week, name, y)
        bands += drawn
        y += height
    site, height = _site(week, y)
    y += height
    grid = [svg.upright(week.place(day), 0, y, "day") for day in week.days[1:-1]]
    shown = svg.picture(
        y, _says(week), *_unrehearsed(week, y), *grid, *_days(week), *bands, *site, *_clocks(week, y)
    )
    return Strip(_title(week), shown, tuple(_notes(week)))


def _title(week: _Week) -> str:
    first, last = week.span[0], week.days[-2]
    return week.clock.day(first) if week.close else f"{week.clock.day(first)} to {week.clock.day(last)}"


def _unrehearsed(week: _Week, height: float) -> list[Markup]:
    """What lies in the strip's week but not in the rehearsed time."""
    outside = [
        *week.cut(week.span[0], week.book.story.start),
        *week.cut(week.book.stop, week.span[1]),
    ]
    if not outside:
        return []
    shape = svg.element("path", d=svg.blocks(outside, 0, height), class_="beyond")
    return [svg.layer(week.wide, height, svg.titled("not rehearsed", shape))]


def _days(week: _Week) -> list[Markup]:
    if not week.headed:
        return []
    return [_day(week, start, end) for start, end in pairwise(week.days)]


def _day(week: _Week, start: int, end: int) -> Markup:
    local = week.clock.local(start)
    if week.close:
        return svg.label(f"{local:%a}", week.place(start), 14, "axis", dx=3)
    more = [svg.element("tspan", f" {local:%b}", class_="roomy")]
    if end - start != 86_400:
        more.append(svg.element("tspan", f", {(end - start) / 3600:g} h", class_="odd roomy"))
    text = f"{local:%a} {local.day}"
    return svg.element("text", text, *more, x=week.place(start), y=14, dx=3, class_="axis")


def _clocks(week: _Week, height: float) -> list[Markup]:
    return [
        svg.titled(_change(week, change.at), svg.upright(week.place(change.at), 0, height, "clock"))
        for change in week.clock.changes(*week.span)
    ]


def _change(week: _Week, at: int) -> str:
    change = next(one for one in week.clock.changes(at - 1, at + 1))
    ways = "back" if change.hours > 24 else "forward"
    return (
        f"{week.clock.day(at)}: clocks go {ways}, {change.before} becomes {change.after}; "
        f"the day has {change.hours:g} hours"
    )


def _notes(week: _Week) -> list[str]:
    return [_change(week, change.at) for change in week.clock.changes(*week.span)]


def _band(week: _Week, name: str, y: float) -> tuple[list[Markup], float]:
    """A group's row: its name, its marks, its lanes; and how high all that is."""
    info = week.book.groups[name]
    nodes = week.alive(name)
    places = lanes(nodes, week.book.stop)
    many = max([*places.values(), info.nodes - 1, 0]) + 1
    thick = max(3.0, min(8.0 if week.close else 18.0, 96.0 / many))
    drawn: list[Markup] = []
    top = y
    if not week.close:
        drawn.append(svg.element("text", name, x="0", y=y + 13, class_="group"))
        top += 19
    marks, height = _marks(week, name, top)
    top += height
    tall = many * thick + (2 if week.close else 6)
    drawn += [_behind(week, name, top, tall), *marks]
    top_life = top + (1 if week.close else 3)
    drawn += [_lives(week, nodes, places, top_life, thick), *_failures(week, nodes, places, top_life, thick)]
    return drawn, top + tall + (3 if week.close else 10) - y


def _behind(week: _Week, name: str, y: float, height: float) -> Markup:
    """The calendar's windows, and an operator's words over them."""
    info = week.book.groups[name]
    parts = []
    for start, end in info.windows:
        for span in week.cut(start, end):
            lost = (name, start) in week.book.lost
            says = f"{name}: shift {week.clock.span(start, end)}{', lost' if lost else ''}"
            shape = svg.element(
                "path", d=svg.blocks([span], 0, height), class_=f"window{' lost' if lost else ''}"
            )
            parts.append(svg.titled(says, shape))
    for start, end, word in info.overrides:
        spans = week.cut(start, end)
        says = f"{name}: an operator's word, {word}, {week.clock.span(start, end)}"
        shape = svg.element("path", d=svg.blocks(spans, 0, height), class_=f"override {word}")
        parts += [svg.titled(says, shape)] if spans else []
    return svg.layer(week.wide, height, *parts, y=y)


def _lives(week: _Week, nodes: Sequence[NodeLife], places: dict[str, int], y: float, thick: float) -> Markup:
    height = thick * (max(places.values(), default=0) + 1)
    drawn = [_life(week, node, places[node.id] * thick, thick) for node in nodes]
    return svg.layer(week.wide, height, *drawn, y=y)


def _failures(
    week: _Week, nodes: Sequence[NodeLife], places: dict[str, int], y: float, thick: float
) -> list[Markup]:
    """Failed pieces that are too short for their box to be seen."""
    drawn = []
    for node in nodes:
        spans = [week.shift(span) for span in joined(node.phases, "failed", week.span)]
        top = y + places[node.id] * thick
        drawn += [
            svg.least(svg.percent(at, 1), top, top + thick - 1, "failed") for at in slim(spans, week.wide)
        ]
    return drawn


def _life(week: _Week, node: NodeLife, y: float, thick: float) -> Markup:
    tall = thick - (1 if thick > 4 else 0)
    shapes = [_path(week.cut(node.launched, node.ended or week.book.stop), y, tall, "alive")]
    shapes.append(_path([week.shift(span) for span in at_work(node.phases, week.span)], y, tall, "train"))
    for phase in ("boot", "drain", "failed"):
        spans = [week.shift(span) for span in joined(node.phases, phase, week.span)]
        shapes.append(_path(spans, y, tall, phase))
    return svg.titled(life_says(week.clock, node), *(shape for shape in shapes if shape))


def _path(spans: Sequence[Span], y: float, tall: float, class_: str) -> Markup | None:
    return svg.element("path", d=svg.blocks(spans, y, tall), class_=class_) if spans else None


def life_says(clock: Clock, node: NodeLife) -> str:
    """A node's life in a sentence."""
    until = clock.when(node.ended) if node.ended else "the end of the rehearsal"
    why = f": {node.why}" if node.why else ""
    return f"{node.id}, {node.type} {node.market}, {clock.when(node.launched)} to {until}, {node.how}{why}"


def _site(week: _Week, y: float) -> tuple[list[Markup], float]:
    """What concerns every group, in a row of its own."""
    shapes, height = _marks(week, None, y)
    if not shapes or week.close:
        return shapes, height
    name = svg.element("text", "the whole site", x="0", y=y + 13, class_="group")
    shapes, height = _marks(week, None, y + 19)
    return [name, *shapes], height + 19


def _marks(week: _Week, group: str | None, y: float) -> tuple[list[Markup], float]:
    return drawn(week.book.marks.get(group, ()), *week.span, y, week.close)


def _says(week: _Week) -> str:
    """What the picture shows, in words."""
    told = []
    for name, info in week.book.groups.items():
        shifts = sum(1 for start, end in info.windows if week.cut(start, end))
        alive = week.alive(name)
        told.append(f"{name}: shifts {shifts}, nodes {len(alive)}")
    return f"Week strip, {_title(week)}. {'; '.join(told)}. The table of shifts says the same in words."

"""One shift at a time: each node's phases to the minute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from nightshift.rehearsal.report import svg
from nightshift.rehearsal.report.lanes import PHASES, clipped, slim
from nightshift.rehearsal.report.marks import Mark, drawn
from nightshift.rehearsal.report.nights import Night
from nightshift.rehearsal.report.words import Clock, ended, number
from nightshift.rehearsal.story import NodeLife, PhaseName, Span

_STEPS = (900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400)
"""Distances between ticks, in seconds; the first that needs at most _TICKS."""
_TICKS = 6
_APART = 0.11
"""A tick nearer than this share of the width to the shift's start or end gives way to it."""
_MARGIN = 0.025
_BEFORE_S = 900
"""A mark so long before the shift is shown with it."""
_MOST_LANES = 32
_HEAD = 18
_NAME = 16
_LANE = 14
_ROOM = _NAME + _LANE + 8
_BEHIND: tuple[PhaseName, ...] = ("train", "boot", "drain", "failed")


@dataclass(frozen=True)
class _View:
    """The span in sight."""

    clock: Clock
    start: int
    end: int

    @property
    def wide(self) -> int:
        """In seconds."""
        return self.end - self.start

    def place(self, at: int) -> str:
        """Where an instant stands."""
        return svg.percent(at - self.start, self.wide)

    def cut(self, start: int, end: int) -> list[Span]:
        """The part in sight, from the left edge; at most one."""
        part = clipped(start, end, (self.start, self.end))
        return [(part[0] - self.start, part[1] - self.start)] if part else []


def zoom(night: Night, clock: Clock, found: Sequence[Mark], end: int) -> Markup:
    """The shift's picture; `found` are the group's marks, `end` is the rehearsal's."""
    last = max([night.end, *(node.ended or min(end, night.end) for node in night.nodes)])
    mine = [mark for mark in found if night.start - _BEFORE_S <= mark.at < last]
    view = _view(night, clock, last, mine)
    shown = night.nodes[:_MOST_LANES]
    signs, high = drawn(mine, view.start, view.end, _HEAD)
    top = _HEAD + high
    height = top + _ROOM * max(1, len(shown)) + 2
    window = svg.element(
        "path", d=svg.blocks(view.cut(night.start, night.end), 0, height - top), class_=_look(night)
    )
    return svg.picture(
        height,
        f"{night.group}, {clock.span(night.start, night.end)}: {len(night.nodes)} nodes, phase by phase.",
        svg.layer(view.wide, height - top, window, y=top),
        *_ticks(view, night, top, height),
        *(svg.upright(view.place(mark.at), top - 2, height, "stem") for mark in mine),
        *signs,
        *(part for at, node in enumerate(shown) for part in _lane(view, night, node, top + at * _ROOM, end)),
    )


def _look(night: Night) -> str:
    return "window lost" if night.verdict == "failed" else "window"


def _view(night: Night, clock: Clock, last: int, marks: Sequence[Mark]) -> _View:
    """From a little before the shift and what struck it to a little after the last of its nodes."""
    first = min([night.start, *(node.launched for node in night.nodes), *(mark.at for mark in marks)])
    margin = max(300, int((last - first) * _MARGIN))
    return _View(clock, first - margin, last + margin)


def _ticks(view: _View, night: Night, top: float, height: float) -> list[Markup]:
    """The shift's start and end, and round times between them."""
    step = next((one for one in _STEPS if view.wide / one <= _TICKS), _STEPS[-1])
    midnight = view.clock.midnight(view.start)
    first = midnight + -((midnight - view.start) // step) * step
    apart = _APART * view.wide
    between = [at for at in range(first, view.end, step) if night.start + apart < at < night.end - apart]
    found = []
    for at in [night.start, *between, night.end]:
        text = view.clock.day(at) if step >= 86_400 else view.clock.hour(at)
        anchor = "start" if at == night.start else "end" if at == night.end else "middle"
        found.append(svg.upright(view.place(at), top if at in between else _HEAD - 2, height, "grid"))
        found.append(svg.label(text, view.place(at), 12, "axis", anchor))
    return found


def _lane(view: _View, night: Night, node: NodeLife, y: float, end: int) -> list[Markup]:
    """Its name stands at the shift's start, wherever its bar is: there is room to say how it went."""
    name = svg.label(f"{node.id}{_more(node)}", view.place(night.start), y + 12, "node", dx=3)
    failed = [span for one in node.phases if one.phase == "failed" for span in view.cut(one.start, one.end)]
    top = y + _NAME
    least = [svg.least(svg.percent(at, 1), top, top + _LANE, "failed") for at in slim(failed, view.wide)]
    return [name, svg.layer(view.wide, _LANE, *_shapes(view, node, end), y=top), *least]


def _more(node: NodeLife) -> str:
    counted = node.steps_from is not None and node.steps_to is not None
    steps = f" · steps {number(node.steps_from or 0)} to {number(node.steps_to or 0)}" if counted else ""
    return f"{' · real' if node.real else ''}{steps} · {ended(node.how)}"


def _shapes(view: _View, node: NodeLife, end: int) -> list[Markup]:
    alive = view.cut(node.launched, node.ended or end)
    shapes = [svg.element("path", d=svg.blocks(alive, 0, _LANE), class_="alive")]
    for name in _BEHIND:
        for phase in node.phases:
            if phase.phase == name:
                spans = view.cut(phase.start, phase.end)
                says = f"{PHASES[name]}, {view.clock.span(phase.start, phase.end)}"
                shape = svg.element("path", d=svg.blocks(spans, 0, _LANE), class_=name)
                shapes.append(svg.titled(says, shape))
    saves = [span for one in node.phases if one.phase == "save" for span in view.cut(one.start, one.end)]
    if saves:
        shapes.append(svg.element("path", d=svg.blocks(saves, 0, _LANE), class_="save"))
    return shapes

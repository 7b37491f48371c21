"""One shift at a time: each node's phases to the minute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from nightshift.rehearsal.report import svg
from nightshift.rehearsal.report.lanes import PHASES, clipped
from nightshift.rehearsal.report.marks import Mark, drawn
from nightshift.rehearsal.report.nights import Night
from nightshift.rehearsal.report.words import Clock
from nightshift.rehearsal.story import NodeLife, PhaseName, Span

_STEPS = (900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400)
"""Distances between ticks, in seconds; the first that needs at most _TICKS."""
_TICKS = 6
_MARGIN = 0.02
_MOST_LANES = 32
_FLIP = 0.6
"""A node launched further to the right has its name end where it ends."""
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
    view = _view(night, clock, end)
    shown = night.nodes[:_MOST_LANES]
    signs, high = drawn(found, view.start, view.end, _HEAD)
    top = _HEAD + high
    height = top + _ROOM * max(1, len(shown)) + 2
    window = svg.element(
        "path", d=svg.blocks(view.cut(night.start, night.end), 0, height - _HEAD), class_="window"
    )
    return svg.picture(
        height,
        f"{night.group}, {clock.span(night.start, night.end)}: {len(night.nodes)} nodes, phase by phase.",
        svg.layer(view.wide, height - _HEAD, window, y=_HEAD),
        *_ticks(view, height),
        *signs,
        *(part for at, node in enumerate(shown) for part in _lane(view, node, top + at * _ROOM, end)),
    )


def _view(night: Night, clock: Clock, end: int) -> _View:
    """From a little before the shift to a little after the last of its nodes."""
    last = max([night.end, *(node.ended or min(end, night.end) for node in night.nodes)])
    first = min([night.start, *(node.launched for node in night.nodes)])
    margin = max(300, int((last - first) * _MARGIN))
    return _View(clock, first - margin, last + margin)


def _ticks(view: _View, height: float) -> list[Markup]:
    step = next((one for one in _STEPS if view.wide / one <= _TICKS), _STEPS[-1])
    midnight = view.clock.midnight(view.start)
    first = midnight + -((midnight - view.start) // step) * step
    found = []
    for at in range(first, view.end, step):
        found.append(svg.upright(view.place(at), _HEAD, height, "day"))
        if (at - view.start) / view.wide < 0.9:
            text = view.clock.day(at) if step >= 86_400 else view.clock.hour(at)
            found.append(svg.label(text, view.place(at), 13, "axis", dx=2))
    return found


def _lane(view: _View, node: NodeLife, y: float, end: int) -> list[Markup]:
    early = (node.launched - view.start) / view.wide < _FLIP
    name = svg.element(
        "text",
        node.id,
        svg.element("tspan", _more(node), class_="roomy"),
        x=view.place(node.launched) if early else view.place(min(node.ended or end, view.end)),
        y=y + 12,
        text_anchor=None if early else "end",
        class_="node",
    )
    return [name, svg.layer(view.wide, _LANE, *_shapes(view, node, end), y=y + _NAME)]


def _more(node: NodeLife) -> str:
    counted = node.steps_from is not None and node.steps_to is not None
    steps = f" · steps {node.steps_from:,} to {node.steps_to:,}" if counted else ""
    return f"{' · real' if node.real else ''}{steps} · {node.how}"


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
    shapes.append(svg.element("path", d=svg.blocks(saves, 0, _LANE), class_="save"))
    return shapes

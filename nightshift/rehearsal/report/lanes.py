"""Lives of nodes beside each other, and marks that don't cover each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nightshift.rehearsal.report.nights import stop
from nightshift.rehearsal.story import NodeLife, Phase, PhaseName, Span, Story

PHASES: dict[PhaseName, str] = {
    "boot": "booting and being checked",
    "train": "in service",
    "save": "saving a checkpoint",
    "drain": "draining",
    "failed": "failed, not fit to serve",
}
LEAST = 0.006
"""What takes a smaller share of a picture's width is drawn some pixels wide."""


def lanes(nodes: Sequence[NodeLife], end: int) -> dict[str, int]:
    """A lane for each node, so that no two in one lane live at once. `end` ends those that still live."""
    free: list[int] = []
    found: dict[str, int] = {}
    for node in sorted(nodes, key=lambda one: (one.launched, one.id)):
        at = next((lane for lane, until in enumerate(free) if until <= node.launched), len(free))
        free[at : at + 1] = [node.ended or end]
        found[node.id] = at
    return found


def within(nodes: Iterable[NodeLife], span: Span, end: int) -> list[NodeLife]:
    """The nodes that live at some time of the span."""
    return [node for node in nodes if node.launched < span[1] and (node.ended or end) > span[0]]


def clipped(start: int, end: int, span: Span) -> Span | None:
    """The part inside the span, or None."""
    low, high = max(start, span[0]), min(end, span[1])
    return (low, high) if low < high or (low == high and span[0] <= start < span[1]) else None


def joined(phases: Sequence[Phase], name: PhaseName, span: Span, bridge: int = 0) -> list[Span]:
    """The spans of one phase inside the span; gaps of up to `bridge` seconds are closed."""
    found: list[Span] = []
    for phase in phases:
        part = clipped(phase.start, phase.end, span) if phase.phase == name else None
        if part and found and part[0] - found[-1][1] <= bridge:
            found[-1] = (found[-1][0], part[1])
        elif part:
            found.append(part)
    return found


def slim(spans: Iterable[Span], wide: float) -> list[float]:
    """The middles of those that would hardly be seen, as shares of the whole width."""
    return [(start + end) / 2 / wide for start, end in spans if end - start < LEAST * wide]


def at_work(phases: Sequence[Phase], span: Span) -> list[Span]:
    """Training with its saves as one span each."""
    working = [Phase("train", phase.start, phase.end) for phase in phases if phase.phase in ("train", "save")]
    return joined(working, "train", span)


def rows(places: Sequence[float], apart: float) -> list[int]:
    """A row for each place, such that two in one row are at least `apart` from each other."""
    last: list[float] = []
    found = [0] * len(places)
    for at in sorted(range(len(places)), key=lambda index: places[index]):
        row = next((row for row, place in enumerate(last) if places[at] - place >= apart), len(last))
        last[row : row + 1] = [places[at]]
        found[at] = row
    return found


def always_minutes(story: Story) -> int:
    """Node minutes if every node were up all the time that was rehearsed."""
    return sum(info.nodes for info in story.groups.values()) * (stop(story) - story.start) // 60

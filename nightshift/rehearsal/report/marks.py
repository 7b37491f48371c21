"""What stands above a group's row: faults by number, broken rules, an operator's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from nightshift.rehearsal.report import svg
from nightshift.rehearsal.report.lanes import rows
from nightshift.rehearsal.report.nights import numbered
from nightshift.rehearsal.story import Story

_SIGNS = {"broken": ("!", "rule"), "override": ("o", "word")}
_HIGH = {False: 18, True: 12}
_RADIUS = {False: 8.0, True: 5.5}
_APART = {False: 0.055, True: 0.03}
"""Marks nearer than this share of the width stand in rows of their own; True: small ones."""


@dataclass(frozen=True)
class Mark:
    """A sign at an instant; `look` is its class in the page's style, `link` the place that tells more."""

    at: int
    sign: str
    says: str
    look: str
    link: str | None = None


def marks(story: Story) -> dict[str | None, list[Mark]]:
    """Every mark by its group; None for what concerns the whole site."""
    found: dict[str | None, list[Mark]] = {}
    for number, fault in numbered(story):
        if fault.struck is not None:
            says = f"fault {number}, {fault.fault}: {fault.ended}"
            look = "hit" if fault.ok else "hit bad"
            mark = Mark(fault.struck, str(number), says, look, f"#fault-{number}")
            found.setdefault(_row(story, fault.group), []).append(mark)
    for event in story.events:
        if event.kind in _SIGNS:
            sign, look = _SIGNS[event.kind]
            found.setdefault(_row(story, event.group), []).append(Mark(event.at, sign, event.says, look))
    return found


def _row(story: Story, group: str | None) -> str | None:
    return group if group in story.groups else None


def drawn(
    found: Sequence[Mark], start: int, end: int, y: float, small: bool = False
) -> tuple[list[Markup], float]:
    """The marks in [start, end) from `y` down, and how high they stand."""
    inside = [mark for mark in found if start <= mark.at < end]
    stands = rows([(mark.at - start) / (end - start) for mark in inside], _APART[small])
    high = _HIGH[small]
    shapes = [
        _one(mark, svg.percent(mark.at - start, end - start), y + (row + 0.5) * high, small)
        for mark, row in zip(inside, stands, strict=True)
    ]
    return shapes, (max(stands, default=-1) + 1) * high


def _one(mark: Mark, x: str, y: float, small: bool) -> Markup:
    disc = svg.element("circle", cx=x, cy=y, r=_RADIUS[small])
    sign = svg.label(mark.sign, x, y + (3 if small else 4), anchor="middle")
    shape = svg.titled(mark.says, disc, sign, class_=f"mark {mark.look}{' small' if small else ''}")
    return svg.element("a", shape, href=mark.link) if mark.link else shape

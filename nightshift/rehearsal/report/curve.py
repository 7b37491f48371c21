"""Loss over a job's steps: where each life of the job began, and which steps were trained twice."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from nightshift.rehearsal.report import svg
from nightshift.rehearsal.report.words import Clock, number
from nightshift.rehearsal.story import Curve, NodeLife

_HEAD = 24
_TALL = 180
_FOOT = 20
_POINTS = 700
"""Points drawn of a curve; more would not be seen."""
_MANY = 24
"""Up to this many resumes have lines as tall as the plot; of more, only those that lost steps."""
_APART = 130
"""Thousandths of the width that a day's name takes."""
_NAMED = 70
"""Those that the name of the upright axis takes."""
_TOGETHER = 900
"""Seconds within which the nodes of a group go on together."""
Point = tuple[int, float]


@dataclass(frozen=True)
class Resume:
    """A job that went on: when, from which step, and how many steps before it were trained again."""

    at: int
    step: int
    lost: int


@dataclass(frozen=True)
class _Axes:
    """Steps from the left, losses from the bottom."""

    first: int
    last: int
    low: float
    high: float

    def across(self, step: float) -> float:
        """In thousandths of the width."""
        return 1000 * (step - self.first) / max(1, self.last - self.first)

    def place(self, step: float) -> str:
        """As a percentage."""
        return svg.percent(self.across(step), 1000)

    def down(self, loss: float) -> float:
        """Pixels from the top of the plot."""
        return _TALL * (1 - (loss - self.low) / ((self.high - self.low) or 1))


def resumes(curve: Curve, nodes: Sequence[NodeLife] = ()) -> tuple[Resume, ...]:
    """Every resume with the steps trained again after it; the group's `nodes` know how far each got.

    Nodes of one group that go on together from one step are one resume; the very first start is none.
    """
    counted = [(one.ended, one.steps_to) for one in nodes if one.ended and one.steps_to is not None]
    known = sorted([*counted, *((at, step) for at, step, _ in curve.points)])
    times = [at for at, _ in known]
    found: list[Resume] = []
    for at, step in sorted(curve.resumes):
        if found and found[-1].step == step and at - found[-1].at < _TOGETHER:
            continue
        if bisect_left(times, at) == 0:
            continue
        since = bisect_right(times, found[-1].at) if found else 0
        reached = max((one for _, one in known[since : bisect_left(times, at)]), default=step)
        found.append(Resume(at, step, max(0, reached - step)))
    return tuple(found)


def lives(curve: Curve) -> list[list[Point]]:
    """The points of each life of the job: a resume begins a new one."""
    starts = sorted(at for at, _ in curve.resumes)
    found: list[list[Point]] = [[] for _ in range(len(starts) + 1)]
    for at, step, loss in curve.points:
        found[bisect_right(starts, at)].append((step, loss))
    return [life for life in found if life]


def picture(name: str, curve: Curve, found: Sequence[Resume], clock: Clock) -> Markup:
    """The chart of one group; empty when nothing was measured."""
    known = [point for point in curve.points if math.isfinite(point[2])]
    if not known:
        return Markup()
    axes = _axes(known)
    height = _HEAD + _TALL + _FOOT
    parts = lives(Curve(tuple(known), curve.resumes))
    return svg.picture(
        height,
        _says(name, known, len(found), axes),
        svg.layer(1000, _TALL, *_lost(axes, found), y=_HEAD),
        *_starts(axes, found, clock),
        svg.layer(1000, _TALL, *_lines(axes, parts), y=_HEAD),
        *_levels(axes),
        svg.label("loss", "0", 12, "axis"),
        *_steps(axes, height),
        class_="loss",
    )


def _axes(points: Sequence[tuple[int, int, float]]) -> _Axes:
    steps, losses = [step for _, step, _ in points], [loss for _, _, loss in points]
    low, high = min(losses), max(losses)
    room = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    return _Axes(min(steps), max(steps), low - room, high + room)


def _says(name: str, points: Sequence[tuple[int, int, float]], again: int, axes: _Axes) -> str:
    first, last = points[0], points[-1]
    return (
        f"Loss of {name} over steps {number(axes.first)} to {number(axes.last)}: from {first[2]:.3g} "
        f"to {last[2]:.3g}, resumed {again} times. The table of resumes lists each."
    )


def _levels(axes: _Axes) -> list[Markup]:
    found = []
    for value in _round_values(axes.low, axes.high, 4):
        y = _HEAD + axes.down(value)
        found.append(svg.level(y, "grid"))
        found.append(svg.label(f"{value:g}", "0", y - 3, "axis"))
    return found


def _steps(axes: _Axes, height: float) -> list[Markup]:
    values = [value for value in _round_values(axes.first, axes.last, 5) if axes.across(value) < 880]
    return [
        svg.label(f"{'' if at else 'step '}{number(value)}", axes.place(value), height - 5, "axis")
        for at, value in enumerate(values)
    ]


def _round_values(low: float, high: float, many: int) -> list[float]:
    """At most `many` + 1 round numbers between low and high."""
    raw = (high - low) / many or 1.0
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
    first = math.ceil(low / step)
    return [round(step * at, 12) for at in range(first, math.floor(high / step) + 1)]


def _starts(axes: _Axes, found: Sequence[Resume], clock: Clock) -> list[Markup]:
    """A line at each resume, with its day where there is room; short ones where there are many."""
    drawn, named = [], _NAMED - _APART
    for one in found:
        across = axes.across(one.step)
        whole = one.lost or len(found) <= _MANY
        line = svg.upright(
            axes.place(one.step), _HEAD if whole else _HEAD + _TALL - 8, _HEAD + _TALL, "resume"
        )
        text = []
        if whole and named + _APART <= across < 1000 - _APART:
            text, named = [_day(clock, one, axes.place(one.step))], across
        drawn.append(svg.titled(_resumed(clock, one), line, *text))
    return drawn


def _resumed(clock: Clock, one: Resume) -> str:
    lost = f", {number(one.lost)} steps trained again" if one.lost else ""
    return f"resumed {clock.when(one.at)} at step {number(one.step)}{lost}"


def _day(clock: Clock, one: Resume, x: str) -> Markup:
    local = clock.local(one.at)
    month = svg.element("tspan", f" {local:%b}", class_="roomy")
    return svg.element("text", f"{local:%a} {local.day}", month, x=x, y=_HEAD - 6, dx=-3, class_="axis")


def _lines(axes: _Axes, parts: Sequence[Sequence[Point]]) -> list[Markup]:
    total = sum(len(part) for part in parts)
    return [
        svg.element(
            "path", d=_path(axes, thinned(part, max(2, _POINTS * len(part) // total))), class_="curve"
        )
        for part in parts
    ]


def _lost(axes: _Axes, found: Sequence[Resume]) -> list[Markup]:
    """The steps that a life trained and the next one trained again."""
    drawn = []
    for one in found:
        if one.lost:
            left, right = axes.across(one.step), axes.across(one.step + one.lost)
            shape = svg.element("path", d=f"M{left:.1f} 0H{right:.1f}V{_TALL}H{left:.1f}z", class_="lost")
            says = f"trained twice: steps {number(one.step)} to {number(one.step + one.lost)}"
            drawn.append(svg.titled(says, shape))
    return drawn


def _path(axes: _Axes, points: Sequence[Point]) -> str:
    return svg.line([(axes.across(step), axes.down(loss)) for step, loss in points])


def thinned(points: Sequence[Point], most: int) -> list[Point]:
    """At most about `most` points: of each stretch the lowest and the highest, and the very last."""
    if len(points) <= most:
        return list(points)
    size = math.ceil(len(points) / max(1, most // 2))
    kept: list[Point] = []
    for at in range(0, len(points), size):
        stretch = points[at : at + size]
        ends = {min(stretch, key=lambda one: one[1]), max(stretch, key=lambda one: one[1])}
        kept += sorted(ends)
    return kept if kept[-1] == points[-1] else [*kept, points[-1]]

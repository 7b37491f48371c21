"""The report as one HTML file that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from nightshift.rehearsal.report import curve as curves
from nightshift.rehearsal.report import money, strips, timeline, words, zoom
from nightshift.rehearsal.report.headline import cost_says, figures, headline, lost_says
from nightshift.rehearsal.report.lanes import PHASES
from nightshift.rehearsal.report.marks import marks
from nightshift.rehearsal.report.nights import (
    MEANS,
    WORTH_TELLING,
    Night,
    Verdict,
    nights,
    numbered,
    outside,
    stop,
)
from nightshift.rehearsal.report.words import Clock, length, number, usd
from nightshift.rehearsal.story import KINDS, Curve, NodeLife, Story

_TEMPLATES = Path(__file__).with_name("templates")
_FEW = 24
"""Up to this many shifts are all shown in full; of more, only those in which something went wrong."""
_MOST_SHOWN = 60
_BRIEF = 6
_SIGNS: dict[Verdict, str] = {
    "fine": "✓",
    "disturbed": "△",
    "failed": "✕",
    "broken": "!",
    "done": "–",
    "cut": "…",
}


@dataclass(frozen=True)
class Shift:
    """A shift as the page's table tells it, with its picture where it has one."""

    id: str
    group: str
    title: str
    verdict: Verdict
    sign: str
    up: str
    nodes: int
    steps: str
    lost: str
    cost: str
    why: tuple[str, ...]
    picture: Markup


@dataclass(frozen=True)
class Life:
    """A node as the page's table tells it."""

    id: str
    group: str
    type: str
    real: bool
    there: str
    how: str
    why: str
    phases: tuple[str, ...]
    steps: str
    billed: str
    cost: str


def render(story: Story) -> str:
    """The whole page as text."""
    return _template().render(view(story))


def view(story: Story) -> dict[str, object]:
    """All that the template fills in."""
    clock = Clock(story.timezone)
    told = nights(story)
    shifts = _shifts(story, told, clock)
    weeks = strips.strips(story)
    troubled = [shift for shift, night in zip(shifts, told, strict=True) if night.worth_telling]
    return {
        "story": story,
        "clock": clock,
        "words": words,
        "css": Markup((_TEMPLATES / "page.css").read_text(encoding="utf-8")),
        "headline": headline(story, told),
        "figures": figures(story),
        "lost_says": lost_says(story),
        "cost_says": cost_says(story),
        "shifts": shifts,
        "troubled": troubled,
        "worst": sorted(troubled, key=lambda shift: WORTH_TELLING.index(shift.verdict))[:_BRIEF],
        "close": len(weeks) > strips.LOOSE,
        "many": len(shifts) > _FEW,
        "means": MEANS,
        "signs": _SIGNS,
        "phases": PHASES,
        "strips": weeks,
        "lives": tuple(_life(node, clock) for node in story.nodes),
        "outside": outside(story),
        "losses": _losses(story, clock),
        "faults": numbered(story),
        "breaks": [(one, timeline.table(story, one.before)) for one in story.broken],
        "broken_rules": {one.rule for one in story.broken},
        "bars": money.bars(story),
        "reasons": money.reasons(story),
        "total": money.total(story),
        "chapters": timeline.chapters(story),
        "kinds": KINDS,
    }


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    return environment.get_template("page.html.j2")


def _shown(value: object) -> object:
    return words.clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _shifts(story: Story, told: Sequence[Night], clock: Clock) -> tuple[Shift, ...]:
    wanted = [night for night in told if len(told) <= _FEW or night.worth_telling]
    pictured = {id(night) for night in wanted[:_MOST_SHOWN] if night.nodes}
    found = marks(story)
    return tuple(
        _shift(
            at,
            night,
            clock,
            zoom.zoom(night, clock, found.get(night.group, ()), stop(story))
            if id(night) in pictured
            else Markup(),
        )
        for at, night in enumerate(told, 1)
    )


def _shift(at: int, night: Night, clock: Clock, picture: Markup) -> Shift:
    return Shift(
        id=f"shift-{at}",
        group=night.group,
        title=clock.span(night.start, night.end),
        verdict=night.verdict,
        sign=_SIGNS[night.verdict],
        up=f"{length(night.up_s) if night.up_s else 'none'} of {length(night.expected_s)}",
        nodes=len(night.nodes),
        steps="" if night.steps is None else number(night.steps),
        lost="" if night.steps is None else number(night.steps_lost),
        cost=usd(night.usd),
        why=night.why,
        picture=picture,
    )


def _life(node: NodeLife, clock: Clock) -> Life:
    counted = node.steps_from is not None and node.steps_to is not None
    return Life(
        id=node.id,
        group=node.group,
        type=f"{node.type} {node.market}",
        real=node.real,
        there=clock.span(node.launched, node.ended)
        if node.ended
        else f"{clock.when(node.launched)} to the end",
        how=node.how,
        why=node.why,
        phases=_phases(node),
        steps=f"{node.steps_from:,} to {node.steps_to:,}" if counted else "",
        billed=length(node.billed_s),
        cost=usd(node.usd),
    )


def _there(node: NodeLife, clock: Clock) -> str:
    return clock.span(node.launched, node.ended) if node.ended else f"{clock.when(node.launched)} to the end"


def _phases(node: NodeLife) -> tuple[str, ...]:
    """How long it was in each phase."""
    spent = {name: sum(p.end - p.start for p in node.phases if p.phase == name) for name in PHASES}
    return tuple(f"{name} {length(seconds)}" for name, seconds in spent.items() if seconds)


@dataclass(frozen=True)
class Loss:
    """A group's chart and the resumes behind it."""

    group: str
    real: bool
    picture: Markup
    resumes: tuple[curves.Resume, ...]


def _losses(story: Story, clock: Clock) -> tuple[Loss, ...]:
    return tuple(
        _loss(name, curve, [node for node in story.nodes if node.group == name], clock)
        for name, curve in story.curves.items()
        if curve.points or curve.resumes
    )


def _loss(name: str, curve: Curve, nodes: Sequence[NodeLife], clock: Clock) -> Loss:
    found = curves.resumes(curve, nodes)
    return Loss(name, curve.real, curves.picture(name, curve, found, clock), found)

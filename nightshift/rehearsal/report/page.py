"""The report as one HTML file that needs nothing else: no script, no font, no network."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from nightshift.rehearsal.report import curve as curves
from nightshift.rehearsal.report import gaps, money, strips, timeline, words, zoom
from nightshift.rehearsal.report.glossary import GLOSSARY
from nightshift.rehearsal.report.headline import (
    cost_says,
    figures,
    headline,
    lost_says,
    saves_says,
    unserved_usd,
)
from nightshift.rehearsal.report.lanes import PHASES
from nightshift.rehearsal.report.marks import marks
from nightshift.rehearsal.report.nights import (
    MEANS,
    SHOWN,
    WORTH_TELLING,
    Night,
    Verdict,
    named,
    nights,
    numbered,
    outside,
    stop,
)
from nightshift.rehearsal.report.words import Clock, ended, length, number, usd
from nightshift.rehearsal.story import KINDS, Curve, NodeLife, Story

_TEMPLATES = Path(__file__).with_name("templates")
_FEW = 24
"""Up to this many shifts are all shown in full; of more, only those in which something went wrong."""
_MOST_SHOWN = 60
_BRIEF = 6
_ARROW = re.compile(" → ")
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
    """A shift as the page's table tells it, with its picture where it has one.

    `why` in full; `brief`: what is told of it elsewhere by the place where, the rest as it is.
    """

    id: str
    group: str
    title: str
    verdict: Verdict
    shown: str
    sign: str
    up: str
    lacks: str
    nodes: int
    steps: str
    lost: str
    cost: str
    why: tuple[str, ...]
    brief: tuple[tuple[str, str], ...]
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
        "tight": tight,
        "coded": coded,
        "css": Markup((_TEMPLATES / "page.css").read_text(encoding="utf-8")),
        "headline": headline(story, told),
        "figures": figures(story),
        "lost_says": lost_says(story),
        "saves_says": saves_says(story),
        "cost_says": cost_says(story),
        "shifts": shifts,
        "troubled": troubled,
        "worst": sorted(troubled, key=lambda shift: WORTH_TELLING.index(shift.verdict))[:_BRIEF],
        "close": len(weeks) > strips.LOOSE,
        "many": len(shifts) > _FEW,
        "means": {SHOWN[one]: MEANS[one] for one in MEANS if one in {night.verdict for night in told}},
        "glossary": GLOSSARY,
        "idle": [name for name, info in story.groups.items() if not info.has_job],
        "spot": any(node.market == "spot" for node in story.nodes),
        "drawn_saves": any(one.phase == "save" for node in story.nodes for one in node.phases),
        "lost_shifts": any(night.verdict == "failed" for night in told),
        "unrehearsed": any("not rehearsed" in strip.picture for strip in weeks),
        "phases": PHASES,
        "strips": weeks,
        "lives": tuple(_life(node, clock) for node in story.nodes),
        "outside": outside(story),
        "losses": _losses(story, clock),
        "faults": numbered(story),
        "breaks": [(one, timeline.table(story, one.before)) for one in story.broken],
        "broken_rules": {one.rule for one in story.broken},
        "bars": money.bars(story),
        "reasons": money.reasons(story, _titles(shifts, told)),
        "total": money.total(story),
        "unserved": usd(unserved_usd(story)) if unserved_usd(story) >= 0.005 else "",
        "bill_lines": money.lines(story),
        "chapters": timeline.chapters(story, told if len(told) <= _FEW else ()),
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
    plain = isinstance(value, str) and not isinstance(value, Markup)
    return words.clean(_ARROW.sub("\u00a0→\u00a0", str(value))) if plain else value


def tight(text: str) -> Markup:
    """A line breaks inside of a word only where it has no room for all of it."""
    return Markup(" ").join(
        _word(one) if "-" in one else Markup.escape(one) for one in _clean(text).split(" ")
    )


def _word(text: str) -> Markup:
    return Markup('<span class="word">{}</span>').format(text)


def _clean(text: str) -> str:
    return str(_shown(text))


def coded(text: str) -> Markup:
    """What stands between backticks is something to type; names with hyphens stay whole."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return tight(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(tight(one)) if at % 2 else tight(one)
        for at, one in enumerate(pieces)
    )


def _titles(shifts: Sequence[Shift], told: Sequence[Night]) -> dict[tuple[str, int], tuple[str, str]]:
    """By group and start: the shift's place on the page and its title."""
    return {
        (night.group, night.start): (shift.id, shift.title) for shift, night in zip(shifts, told, strict=True)
    }


def _shifts(story: Story, told: Sequence[Night], clock: Clock) -> tuple[Shift, ...]:
    wanted = [night for night in told if len(told) <= _FEW or night.worth_telling]
    pictured = {id(night) for night in wanted[:_MOST_SHOWN] if night.nodes}
    found = marks(story)
    shifts = []
    for at, night in enumerate(told, 1):
        signs = found.get(night.group, ())
        shown = zoom.zoom(night, clock, signs, stop(story)) if id(night) in pictured else Markup()
        shifts.append(_shift(at, story, night, clock, shown))
    return tuple(shifts)


def _shift(at: int, story: Story, night: Night, clock: Clock, picture: Markup) -> Shift:
    has_job = story.groups[night.group].has_job
    none = "none" if has_job else "no job"
    return Shift(
        id=f"shift-{at}",
        group=night.group,
        title=clock.span(night.start, night.end),
        verdict=night.verdict,
        shown=SHOWN[night.verdict],
        sign=_SIGNS[night.verdict],
        up=f"{length(night.up_s) if night.up_s else 'none'} of {length(night.expected_s)}",
        lacks=gaps.without(night, story.start, stop(story)),
        nodes=len(night.nodes),
        steps=none if night.steps is None else number(night.steps),
        lost=number(night.steps_lost) if has_job else "–",
        cost=usd(night.usd),
        why=night.why,
        brief=_brief(story, night),
        picture=picture,
    )


def _brief(story: Story, night: Night) -> tuple[tuple[str, str], ...]:
    """The reasons, each fault by its place in the table of faults."""
    numbers = {fault: number for number, fault in numbered(story)}
    faults = {f"{named(one)}: {one.what}": f"fault-{numbers[one]}" for one in night.faults}
    others = [why for why in night.why if not why.startswith(tuple(f"{says};" for says in faults))]
    return (*((place, says) for says, place in faults.items()), *(("", why) for why in others))


def _kept(node: NodeLife) -> str:
    """How far it had saved, where it lost what came after."""
    lost = node.steps_kept is not None and node.steps_to is not None and node.steps_kept < node.steps_to
    return f", saved to {node.steps_kept:,}" if lost else ""


def _life(node: NodeLife, clock: Clock) -> Life:
    counted = node.steps_from is not None and node.steps_to is not None
    return Life(
        id=node.id,
        group=node.group,
        type=f"{node.type} {node.market}",
        real=node.real,
        there=_there(node, clock),
        how=ended(node.how),
        why=node.why,
        phases=_phases(node),
        steps=f"{node.steps_from:,} to {node.steps_to:,}{_kept(node)}" if counted else "",
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

"""The answers that a reader wants first: did it hold, which shifts failed, what was lost, what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nightshift.rehearsal.report.nights import Night, stop
from nightshift.rehearsal.report.words import Clock, count, length, number, usd, weeks
from nightshift.rehearsal.story import Story

_WEEK_S = 604_800
Mood = Literal["good", "bad"]


@dataclass(frozen=True)
class Headline:
    """`word` is the verdict, `says` the one line about it, `did` what happened in the time."""

    mood: Mood
    word: str
    says: str
    did: str


def lasted(story: Story) -> str:
    """How long the rehearsed time was: `one week`, or less when a broken rule stopped it."""
    return weeks((stop(story) - story.start) / _WEEK_S)


def headline(story: Story, told: Sequence[Night]) -> Headline:
    """The verdict and what happened; `told` are all the story's shifts."""
    mood: Mood = "good" if story.ok else "bad"
    return Headline(mood, "Held" if story.ok else "Did not hold", _verdict(story), _did(story, told))


def _verdict(story: Story) -> str:
    clock = Clock(story.timezone)
    if story.broken:
        first = story.broken[0]
        more = f", and {len(story.broken) - 1} more" if len(story.broken) > 1 else ""
        return f"the rule “{first.rule}” was broken on {clock.when(first.at)}{more}"
    bad = [fault.fault for fault in story.faults if not fault.ok]
    if bad:
        return f"{len(bad)} of {count(len(story.faults), 'fault')} didn't end as it must: {', '.join(bad)}"
    return f"{_faults(story)}, no rule was broken"


def _faults(story: Story) -> str:
    struck = sum(1 for fault in story.faults if fault.struck is not None)
    if not struck:
        return "no fault struck"
    return f"{count(struck, 'fault')} struck and {'' if struck == 1 else 'each '}ended as it must"


def _did(story: Story, told: Sequence[Night]) -> str:
    if not told and not story.nodes:
        return f"In {lasted(story)} no group has a shift, so no node came up."
    return (
        f"In {lasted(story)}: {count(len(told), 'shift')} of {count(len(story.groups), 'group')}, "
        f"{count(len(story.nodes), 'node')}{_real(story)}; {count(story.steps_trained, 'step')} trained, "
        f"{number(story.steps_lost)} lost; {usd(story.bill.usd)} instead of "
        f"{usd(story.bill.always_on_usd)} up all the time."
    )


def _real(story: Story) -> str:
    if not story.nodes:
        return ""
    if story.real_nodes >= len(story.nodes):
        return ", all real processes"
    return f", {story.real_nodes} of them real processes" if story.real_nodes else ", all modelled"


@dataclass(frozen=True)
class Figure:
    """A number to look at, and what it's of; `bad`: it's none to be glad of."""

    name: str
    value: str
    of: str
    bad: bool = False


def figures(story: Story) -> tuple[Figure, ...]:
    """The numbers that should be 0, or all."""
    broken, writers = len(story.broken), story.two_writer_seconds
    bad = sum(1 for fault in story.faults if not fault.ok)
    good = f"{len(story.faults) - bad} of {len(story.faults)}" if story.faults else "none"
    return (
        Figure("faults that ended as they must" if story.faults else "faults", good, "", bad > 0),
        Figure("rules broken", number(broken), f"of {len(story.invariants)}", broken > 0),
        Figure("time with two writers of a volume", length(writers), "", writers > 0),
    )


def lost_says(story: Story) -> str:
    """How many of how many, and the most that one loss may take."""
    if not story.steps_trained and not story.steps_lost:
        return "no step was trained"
    saves = sorted({info.save_s for info in story.groups.values() if info.save_s})
    apart = f"; saves are at most {length(saves[-1])} apart" if saves else ""
    return f"of {number(story.steps_trained)} trained{apart}"


def cost_says(story: Story) -> str:
    """Beside the forecast and 24/7."""
    bill = story.bill
    over = bill.usd - bill.forecast_usd
    beside = f"{usd(abs(over))} {'more' if over > 0 else 'less'} than" if abs(over) >= 0.005 else "exactly"
    said = f"{beside} the forecast of {usd(bill.forecast_usd)}"
    if bill.always_on_usd - bill.usd < 0.005:
        return said
    return f"{said}; {saved_percent(story)} % less than {usd(bill.always_on_usd)} up all the time"


def saved_percent(story: Story) -> int:
    """How much less than always on, in whole percent."""
    always = story.bill.always_on_usd
    return int((1 - story.bill.usd / always) * 100) if always else 0

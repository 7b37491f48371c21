"""The answers that a reader wants first: what held, which shifts went wrong, what was lost, what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from nightshift.plan.forecast import saved_percent
from nightshift.rehearsal.faults.table import WORDS
from nightshift.rehearsal.report.nights import Night, Verdict, outside, stop
from nightshift.rehearsal.report.words import Clock, count, length, number, usd, weeks
from nightshift.rehearsal.story import Story

_WEEK_S = 604_800
_NAMED = 2
"""Up to this many lost shifts are named."""
Mood = Literal["good", "warn", "bad"]


@dataclass(frozen=True)
class Headline:
    """`mood` is that of the worst thing. `rules` tells of them, `says` of the shifts, `did` what came of it.

    `rehearsed`: that nothing was real, and what was done on purpose; `short` is for a window's title.
    """

    mood: Mood
    rules: str
    says: str
    did: str
    rehearsed: str
    short: str

    @property
    def sentence(self) -> str:
        """Rules and shifts."""
        return f"{self.rules} {self.says}"


def lasted(story: Story) -> str:
    """How long the rehearsed time was: `one week`, or less when a broken rule stopped it."""
    return weeks((stop(story) - story.start) / _WEEK_S)


def headline(story: Story, told: Sequence[Night]) -> Headline:
    """The verdict and what happened; `told` are all the story's shifts."""
    well = as_planned(told)
    short = f"{well} of {count(len(told), 'shift')} as planned" if told else "no shift"
    return Headline(
        _mood(story, told),
        _rules(story),
        " ".join(one for one in (_shifts(story, told, well), _faults(story)) if one),
        _did(story, told),
        rehearsed(story),
        "a rule was broken" if story.broken else short,
    )


def as_planned(told: Sequence[Night]) -> int:
    """How many went as planned; what the rehearsal itself cut off is none of them."""
    return sum(1 for night in told if night.verdict in ("fine", "done"))


def _mood(story: Story, told: Sequence[Night]) -> Mood:
    if not story.ok or any(night.verdict == "failed" for night in told):
        return "bad"
    return "warn" if any(night.worth_telling for night in told) or outside(story) else "good"


def _rules(story: Story) -> str:
    if story.broken:
        first = story.broken[0]
        more = f", and {len(story.broken) - 1} more" if len(story.broken) > 1 else ""
        ended = "; the rehearsal ended there" if first.at < story.end else ""
        return f"The rule “{first.rule}” was broken on {Clock(story.timezone).when(first.at)}{more}{ended}."
    return "All rules held." if any(one.checked for one in story.invariants) else "No rule was looked at."


def _shifts(story: Story, told: Sequence[Night], well: int) -> str:
    """`5 of 8 shifts went as planned; desk's Fri 11 Dec shift was lost (boot-fails), 2 were disturbed.`"""
    if not told:
        return "No group has a shift in this time."
    bad = [one for one in (*_lost(story, told), _many(told, "disturbed", "disturbed")) if one]
    bad += [one for one in (_many(told, "cut", "cut off where the rehearsal begins or ends"),) if one]
    if not bad:
        return f"All {number(well)} shifts went as planned." if well > 1 else "Its shift went as planned."
    return f"{number(well)} of {count(len(told), 'shift')} went as planned; {', '.join(bad)}."


def _lost(story: Story, told: Sequence[Night]) -> list[str]:
    lost = [night for night in told if night.verdict == "failed"]
    broken = sum(1 for night in told if night.verdict == "broken")
    said = ["in 1 a rule was broken" if broken == 1 else f"in {broken} a rule was broken"] if broken else []
    if len(lost) > _NAMED:
        return [*said, f"{number(len(lost))} were lost"]
    clock = Clock(story.timezone)
    return [*said, *(f"{one.group}'s {clock.day(one.start)} shift was lost{_cause(one)}" for one in lost)]


def _cause(night: Night) -> str:
    kinds = dict.fromkeys(fault.fault.partition("@")[0] for fault in night.faults)
    return f" ({', '.join(kinds)})" if kinds else ""


def _many(told: Sequence[Night], verdict: Verdict, says: str) -> str:
    many = sum(1 for night in told if night.verdict == verdict)
    return f"{number(many)} {'was' if many == 1 else 'were'} {says}" if many else ""


def _faults(story: Story) -> str:
    """Those that ended badly."""
    bad = [fault.fault for fault in story.faults if not fault.ok]
    return f"{count(len(bad), 'fault')} didn't end as it must: {', '.join(bad)}." if bad else ""


def rehearsed(story: Story) -> str:
    """That nothing was real, what was put in on purpose and by whom, and what the nodes were."""
    return (
        f"This is a rehearsal: nothing ran on AWS or was billed. {put_in(story)}; "
        f"{nodes_says(story)}; every sum is what it would have cost."
    )


def put_in(story: Story) -> str:
    """`3 faults were put in on purpose, chosen by name, none by chance`."""
    words = _words(story)
    faults = len(story.faults) - words
    if not story.faults:
        return "No fault was put in"
    said = [count(faults, "fault")] if faults else []
    said += [count(words, "operator's word")] if words else []
    was = "was" if len(story.faults) == 1 else "were"
    return f"{' and '.join(said)} {was} put in on purpose, {_by(story)}"


def _words(story: Story) -> int:
    """How many of the faults are an operator's words."""
    return sum(1 for fault in story.faults if fault.fault.partition("@")[0] in WORDS)


def _by(story: Story) -> str:
    chance = f"by chance from seed {story.seed}"
    named = len(story.faults) - story.by_seed
    if named <= 0:
        return f"chosen {chance}"
    return (
        f"{number(named)} named and {number(story.by_seed)} chosen {chance}"
        if story.by_seed
        else "chosen by name, none by chance"
    )


def nodes_says(story: Story) -> str:
    """`11 nodes were launched, all of them modelled`."""
    many = len(story.nodes)
    if not many:
        return "no node was launched"
    said = f"{count(many, 'node')} {'was' if many == 1 else 'were'} launched"
    if story.real_nodes >= many:
        return f"{said} as real processes on this machine"
    if not story.real_nodes:
        return f"{said}, modelled" if many == 1 else f"{said}, all of them modelled"
    rest = number(many - story.real_nodes)
    return f"{said}, {number(story.real_nodes)} as real processes on this machine and {rest} modelled"


def _did(story: Story, told: Sequence[Night]) -> str:
    if not told and not story.nodes:
        return f"In {lasted(story)} no node came up."
    trained = f"{count(story.steps_trained, 'step')} trained, {number(story.steps_lost)} lost; "
    return (
        f"In {lasted(story)}: {count(len(told), 'shift')} of {count(len(story.groups), 'group')}; "
        f"{trained if story.steps_trained or story.steps_lost else ''}{usd(story.bill.usd)} would have been "
        f"billed, up all the time {usd(story.bill.always_on_usd)}."
    )


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
    named = "faults and words" if _words(story) else "faults"
    return (
        Figure(f"{named} that ended as they must" if story.faults else "faults", good, "", bad > 0),
        Figure("rules broken", number(broken), f"of {len(story.invariants)}", broken > 0),
        Figure("two nodes wrote to one volume for", length(writers), "", writers > 0),
    )


def lost_says(story: Story) -> str:
    """How many of how many, how far apart saves are, and which groups train nothing."""
    idle = [name for name, info in story.groups.items() if not info.has_job]
    without = f"; {_names(idle)} {'runs' if len(idle) == 1 else 'run'} no job" if idle else ""
    if not story.steps_trained and not story.steps_lost:
        return f"no step was trained{without}"
    return f"of {number(story.steps_trained)} trained; {saves_says(story)}{without}"


def saves_says(story: Story) -> str:
    """The longest time between two saves, and the model's own."""
    jobs = [info for info in story.groups.values() if info.has_job]
    most = max((info.save_s for info in jobs), default=0)
    modelled = {info.modelled_save_s for info in jobs if info.modelled_save_s}
    own = f" (modelled: every {min(modelled)} s)" if modelled else ""
    return f"saves are at most {length(most)} apart{own}"


def _names(names: Sequence[str]) -> str:
    return f"{len(names)} groups" if len(names) > 3 else ", ".join(names)


def cost_says(story: Story) -> str:
    """Beside the forecast, and beside being up all the time."""
    bill = story.bill
    over = bill.usd - bill.forecast_usd
    beside = f"{usd(abs(over))} {'more' if over > 0 else 'less'} than" if abs(over) >= 0.005 else "exactly"
    said = f"{beside} the forecast of {usd(bill.forecast_usd)}{_undelivered(story, over)}"
    if bill.always_on_usd - bill.usd < 0.005:
        return said
    always = usd(bill.always_on_usd)
    saved = saved_percent(Decimal(str(bill.usd)), Decimal(str(bill.always_on_usd)))
    return f"{said}; {saved} % less than {always} up all the time at the same prices"


def _undelivered(story: Story, over: float) -> str:
    """What of the difference is no saving: shifts that wanted nodes and had none."""
    lost = unserved_usd(story)
    if lost < 0.005:
        return ""
    if over <= -lost:
        return f", of which {usd(lost)} is service that wasn't delivered"
    return f"; {usd(lost)} of service wasn't delivered"


def unserved_usd(story: Story) -> float:
    """What the hours would have cost in which a shift wanted nodes and had none."""
    return -sum(one.usd for one in story.bill.differences if one.unserved)

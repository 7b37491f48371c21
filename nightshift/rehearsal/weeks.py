"""Weeks of a deployed site in one go: played with faults, held to every rule, told as a story."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nightshift.rehearsal import telling
from nightshift.rehearsal.bill.causes import MIDDLE
from nightshift.rehearsal.control.fleet import Fleet
from nightshift.rehearsal.control.model_fleet import ModelFleet
from nightshift.rehearsal.control.play import destroy, open_site, play, set_going
from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.control.timing import LATE_AT_MOST_S
from nightshift.rehearsal.expect import Expect, expect, windows
from nightshift.rehearsal.faults.parse import Named
from nightshift.rehearsal.faults.place import chosen, place
from nightshift.rehearsal.faults.strike import Struck, plan
from nightshift.rehearsal.invariants.excuses import middle
from nightshift.rehearsal.invariants.judge import Broken, Judge
from nightshift.rehearsal.story import Event, Story
from nightshift.rehearsal.world.model import World

if TYPE_CHECKING:
    from nightshift.settings.models import Stack

WEEK_S = 604_800
Heard = Callable[[Event], None]


@dataclass(frozen=True)
class Plan:
    """What to rehearse: [start, end), with these faults and `extra` more that the seed chooses."""

    start: int
    end: int
    seed: int
    faults: tuple[Named, ...] = ()
    extra: int = 0
    late_most_s: int = LATE_AT_MOST_S


@dataclass(frozen=True)
class Played:
    """A run that is over: the site as it ended, what was promised, every fault, the first break if any.

    The last `by_seed` of `names` were chosen by the seed.
    """

    site: Site
    expected: Expect
    judge: Judge
    struck: tuple[Struck, ...]
    names: tuple[str, ...]
    broken: Broken | None
    seconds: float
    by_seed: int = 0


def rehearse(
    stack: Stack, world: World, wanted: Plan, fleet: Fleet | None = None, heard: Heard | None = None
) -> Story:
    """Play it and tell it. Raises FaultProblems for faults that have no place."""
    return telling.story(
        stack, wanted.start, wanted.end, wanted.seed, run(stack, world, wanted, fleet, heard)
    )


def run(
    stack: Stack, world: World, wanted: Plan, fleet: Fleet | None = None, heard: Heard | None = None
) -> Played:
    """Play it. Raises FaultProblems for faults that have no place."""
    began = time.monotonic()
    expected = expect(stack, wanted.start, wanted.end)
    span = (wanted.start, wanted.end)
    named = (*wanted.faults, *chosen(wanted.extra, world, expected, *span, wanted.seed))
    strikes = place(named, world, expected, *span, wanted.seed)
    judge = Judge(expected, lambda name, word: windows(stack, name, *span, word))
    runs = fleet or ModelFleet(wanted.seed)
    site = open_site(world, runs, judge, seed=wanted.seed, start=wanted.start, end=wanted.end)
    site.late_most_s, site.heard = wanted.late_most_s, heard
    runs.obey(site.overrides)
    struck = plan(site, strikes)
    broken = _played(site, judge)
    names = tuple(fault.name for fault in named)
    return Played(site, expected, judge, struck, names, broken, time.monotonic() - began, wanted.extra)


def _played(site: Site, judge: Judge) -> Broken | None:
    try:
        judge.begin(site)
        set_going(site)
        _say_middle(site, judge.expected)
        play(site)
        judge.destroying()
        destroy(site)
        judge.finish(site)
    except Broken as broken:
        site.tell("broken", f"{broken.rule}: {broken.says}", broken.group)
        return broken
    return None


def _say_middle(site: Site, expected: Expect) -> None:
    for name in middle(expected, site.start):
        says = f"{MIDDLE}: it comes up with the next one, or by `nightshift wake`"
        site.tell("missed", says, name)


def shrink(stack: Stack, world: World, wanted: Plan, faults: Sequence[Named]) -> tuple[Named, ...]:
    """The fewest of `faults` that still break a rule: each is left out in turn while it isn't needed."""
    left = list(faults)
    for fault in list(faults):
        fewer = [other for other in left if other is not fault]
        if run(stack, world, _with(wanted, fewer)).broken is not None:
            left = fewer
    return tuple(left)


def _with(wanted: Plan, faults: Sequence[Named]) -> Plan:
    return Plan(wanted.start, wanted.end, wanted.seed, tuple(faults), 0, wanted.late_most_s)

"""Calendar and rehearsal agree to the minute over a year: fired actions leave the sizes that were planned.

The rehearsal knows the deployed actions and a cron library, the calendar neither.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nightshift.plan.shifts import is_whole_week, week_windows
from nightshift.rehearsal.control.model_fleet import ModelFleet
from nightshift.rehearsal.control.play import open_site, play, set_going
from nightshift.rehearsal.expect import windows
from nightshift.rehearsal.world.model import World
from nightshift.settings import Stack
from nightshift.settings.group import Shift
from nightshift.settings.to_plan import shifts_of
from tests.rehearsal.support.declared import declared_world
from tests.rehearsal.support.sites import Noting, as_declared, lab

START, END = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (2026, 2027))
ZONES = (
    "Asia/Shanghai",
    "Etc/UTC",
    "Asia/Kolkata",
    "America/New_York",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Africa/Casablanca",
    "Pacific/Chatham",
)
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
CLOCK = st.one_of(
    st.tuples(st.integers(0, 23), st.sampled_from([0, 15, 30, 45])),
    st.tuples(st.integers(0, 3), st.integers(0, 59)),
).map(lambda pair: f"{pair[0]:02}:{pair[1]:02}")


def shift_of(days: Iterable[str], start: str, end: str) -> Shift:
    """As a stack file gives it."""
    ordered = tuple(sorted(days, key=DAYS.index))
    return Shift.model_validate({"days": ordered, "from": start, "to": end})


SHIFT = st.builds(shift_of, st.sets(st.sampled_from(DAYS), min_size=1), CLOCK, CLOCK)
SHIFTS = st.lists(SHIFT, min_size=1, max_size=3).map(tuple)


def stack_of(zone: str, shifts: tuple[Shift, ...], nodes: int) -> Stack:
    """The lab with one group, so that no two can meet on a volume."""
    stack, _ = lab()
    group = stack.groups["vit"].model_copy(
        update={
            "shifts": shifts,
            "timezone": zone,
            "nodes": nodes,
            "volumes": (),
            "types": ("g6.12xlarge",),
            "tier": None,
        }
    )
    return stack.model_copy(update={"groups": {"vit": group}})


def fired(world: World) -> list[tuple[int, int]]:
    """The spans in which the group's desired size wasn't 0, every action on time.

    Of an instant the last size counts: a gap of the clocks makes an end and the next start fall together.
    """
    watch = Noting()
    site = open_site(world, ModelFleet(1), watch, seed=1, start=START, end=END, remember=10)
    site.late_most_s = 0
    set_going(site)
    play(site)
    found: list[tuple[int, int]] = []
    since: int | None = None
    for at, desired in {**dict(watch.sizes.get("vit", [])), END: 0}.items():
        if desired and since is None:
            since = at
        elif not desired and since is not None:
            found += [(since, at)] if at > since else []
            since = None
    return found


def planned(stack: Stack) -> list[tuple[int, int]]:
    """The calendar's spans of the year, from the first that begins in it."""
    spans = windows(stack, "vit", START, END)
    return [(start, min(end, END)) for start, end in spans if START <= start < END]


@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(ZONES), SHIFTS, st.integers(1, 3))
@example("Pacific/Chatham", (shift_of(("sat", "sun"), "03:15", "03:00"),), 1)
def test_a_years_sizes_are_those_of_the_calendar(zone: str, shifts: tuple[Shift, ...], nodes: int) -> None:
    stack = stack_of(zone, shifts, nodes)
    if is_whole_week(week_windows(shifts_of(stack.groups["vit"]))):
        return
    _, world = lab()
    bare = replace(world.groups[1], manifest=replace(world.groups[1].manifest, volumes=()))
    one = as_declared(stack, replace(world, groups=(bare,), alarms=()))
    assert fired(one) == planned(stack)


@settings(deadline=None, max_examples=2, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(ZONES), SHIFT)
def test_so_are_those_of_the_whole_program(zone: str, shift: Shift) -> None:
    stack = stack_of(zone, (shift,), 1)
    if is_whole_week(week_windows(shifts_of(stack.groups["vit"]))):
        return
    assert fired(declared_world(stack)) == planned(stack)

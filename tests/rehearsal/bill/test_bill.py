"""The bill is what the lives cost, and every difference to the forecast has its line."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.plan.forecast import forecast
from nightshift.rehearsal.bill.causes import AFTER, LATE, MIDDLE, TWO, differences
from nightshift.rehearsal.bill.lives import Life
from nightshift.rehearsal.bill.sums import Entry, Reason, Sums
from nightshift.rehearsal.faults.parse import parse
from nightshift.rehearsal.story import Event, Story
from nightshift.rehearsal.weeks import Plan, rehearse
from nightshift.settings.to_plan import group_costs, needs_nat, volume_costs
from tests.rehearsal.support.record import recorded
from tests.rehearsal.support.sites import DAY, MONDAY, lab, plan
from tests.rehearsal.support.stacks import shipped

STACKS = ("cluster", "lab", "rehearsal", "solo", "team")


def agrees(story: Story) -> None:
    """Minutes to the minute, dollars to the cent."""
    bill = story.bill
    assert bill.billed_minutes - bill.forecast_minutes == sum(one.minutes for one in bill.differences)
    assert bill.usd - bill.forecast_usd == pytest.approx(sum(one.usd for one in bill.differences), abs=0.011)
    assert sum(line.usd for line in bill.lines) == pytest.approx(bill.usd, abs=0.01)


@pytest.mark.parametrize("name", STACKS)
def test_bill_and_forecast_differ_by_what_the_lines_say(name: str) -> None:
    story = rehearse(shipped(name), recorded(name), plan(2, extra=4, seed=5))
    agrees(story)
    assert story.bill.usd < story.bill.always_on_usd


def test_a_life_is_billed_by_the_second_and_a_minute_at_least() -> None:
    assert Life("g", "t", "spot", 0, 20).billed_s == 60
    assert Life("g", "t", "spot", 0, 61).billed_s == 61


def test_nodes_are_billed_as_long_as_they_live() -> None:
    stack, world = lab()
    story = rehearse(stack, world, plan())
    seconds = sum(max(60, (node.ended or story.end) - node.launched) for node in story.nodes)
    assert story.bill.billed_minutes == round(seconds / 60)
    assert sum(node.billed_s for node in story.nodes) == seconds
    assert sum(line.minutes for line in story.bill.lines) == pytest.approx(story.bill.billed_minutes, abs=3)


@pytest.mark.parametrize("name", STACKS)
def test_the_forecast_of_a_whole_month_is_that_of_the_forecast_verb(name: str) -> None:
    start, end = MONDAY - 6 * DAY, MONDAY + 25 * DAY
    stack = shipped(name)
    story = rehearse(stack, recorded(name), Plan(start, end, 1))
    month = forecast(
        group_costs(stack),
        volume_costs(stack),
        region=stack.region,
        year=2026,
        month=12,
        nat=needs_nat(stack),
    )
    assert story.bill.forecast_usd == pytest.approx(float(month.usd), abs=0.2)
    assert story.bill.always_on_usd == pytest.approx(float(month.always_on_usd), abs=0.2)
    assert story.bill.forecast_minutes == pytest.approx(float(month.hours) * 60, abs=1)


def test_an_hour_without_capacity_is_a_line_of_its_own() -> None:
    stack, world = lab()
    story = rehearse(stack, world, plan(faults=parse(["ice@mon:desk"])))
    why = {one.why: one.minutes for one in story.bill.differences if one.group == "desk"}
    assert -123 <= why["AWS had no instance to give"] <= -119
    assert -12 <= why[LATE] <= 0


def test_an_alarm_that_stopped_the_group_is_named() -> None:
    stack, world = lab()
    story = rehearse(stack, world, plan(faults=parse(["boot-fails@mon:desk"])))
    why = {one.why: one.minutes for one in story.bill.differences if one.group == "desk"}
    assert why["an alarm had set the group to 0 nodes"] < -480


def test_a_group_deployed_in_the_middle_of_its_shift_says_so() -> None:
    stack, world = lab()
    story = rehearse(stack, world, Plan(MONDAY + 5 * 3_600, MONDAY + 3 * DAY, 1))
    assert story.ok
    why = {one.why: one.minutes for one in story.bill.differences if one.group == "desk"}
    assert why[MIDDLE] == -300


def test_what_is_served_twice_or_after_the_end_has_its_own_reason() -> None:
    lives = [Life("g", "t", "spot", 100, 1_100), Life("g", "t", "spot", 1_000, 2_300)]
    found = differences(lives, [(0, 2_000)], 1, [], 600, 1)
    assert {why: cause.seconds for why, cause in found.items()} == {LATE: -100, TWO: 100, AFTER: 300 - 600}
    assert (found[LATE].each, found[AFTER].each) == ((0,), ())


SPANS = st.lists(st.integers(0, 20_000), unique=True, min_size=2, max_size=8).map(
    lambda edges: tuple(zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False))
)
KIND = st.sampled_from(["policy", "missed", "no-capacity", "boot-failed", "ended", "launch", "finished"])


@settings(deadline=None)
@given(
    SPANS,
    st.lists(st.tuples(st.integers(0, 20_000), st.integers(1, 5_000)), max_size=8),
    st.integers(1, 4),
    st.lists(st.tuples(st.integers(0, 20_000), KIND), max_size=8),
)
def test_the_reasons_add_up_whatever_happened(
    windows: tuple[tuple[int, int], ...],
    lived: list[tuple[int, int]],
    nodes: int,
    events: list[tuple[int, str]],
) -> None:
    lives = [Life("g", "t", "spot", start, start + length) for start, length in lived]
    told = [Event(at, kind, "x", "g") for at, kind in sorted(events)]
    found = differences(lives, windows, nodes, told, 600, len(windows))
    planned = nodes * (sum(end - start for start, end in windows) + 600 * len(windows))
    assert sum(cause.seconds for cause in found.values()) == sum(life.billed_s for life in lives) - planned


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-9_999, 9_999), st.decimals(-99, 99, places=5)), max_size=12))
def test_rounded_differences_still_add_up(parts: list[tuple[int, Decimal]]) -> None:
    sums = Sums()
    sums.planned(100_000, Decimal("1234.567"))
    for seconds, usd in parts:
        sums.differ(Reason("why", seconds, usd))
    seconds = 100_000 + sum(one for one, _ in parts)
    usd = Decimal("1234.567") + sum((one for _, one in parts), Decimal())
    sums.billed(Entry("all", Decimal(1), "x", usd, max(0, seconds)))
    bill = sums.bill(Decimal())
    if seconds >= 0:
        assert bill.billed_minutes - bill.forecast_minutes == sum(one.minutes for one in bill.differences)
    total = sum((Decimal(str(one.usd)) for one in bill.differences), Decimal())
    assert Decimal(str(bill.usd)) - Decimal(str(bill.forecast_usd)) == total

"""Faults by name: read with all problems at once, placed in the rehearsed time, chosen by the seed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.rehearsal.expect import expect
from nightshift.rehearsal.faults.parse import FaultProblems, OnDay, absolute, parse
from nightshift.rehearsal.faults.place import can_hit, chosen, place
from nightshift.rehearsal.faults.table import KINDS
from tests.rehearsal.support.record import recorded
from tests.rehearsal.support.sites import DAY, HOUR, MONDAY, WEEK, group, lab
from tests.rehearsal.support.stacks import shipped

END = MONDAY + WEEK


def placed(*names: str, seed: int = 1):
    stack, world = lab()
    return place(parse(names), world, expect(stack, MONDAY, END), MONDAY, END, seed)


@pytest.mark.parametrize(
    ("name", "when", "group"),
    [
        ("spot", None, None),
        ("spot:vit", None, "vit"),
        ("spot@wed", OnDay(1, "wed", None), None),
        ("spot@wed+3h", OnDay(1, "wed", 10_800), None),
        ("ice@w2-mon-1h30m:desk", OnDay(2, "mon", -5_400), "desk"),
        ("crash@2026-12-07T02:00:00Z", MONDAY + 2 * HOUR, None),
        ("crash@2026-12-07T02:00:00Z:desk", MONDAY + 2 * HOUR, "desk"),
    ],
)
def test_a_name_says_kind_time_and_group(name: str, when: object, group: str | None) -> None:
    (named,) = parse([name])
    assert (named.kind, named.when, named.group) == (name.split("@")[0].split(":")[0], when, group)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(FaultProblems) as caught:
        parse(["spit@wed", "spot@noday", "ice@mon+x", "crash@2026-13-40T00:00:00Z", "@wed", "spot@wed"])
    assert len(caught.value.problems) == 5
    assert 'did you mean "spot"?' in caught.value.problems[0]


@settings(deadline=None)
@given(st.sampled_from(sorted(KINDS)), st.integers(0, 4_000_000_000), st.sampled_from(["vit", "a-b2"]))
def test_the_absolute_name_of_a_place_reads_back_as_that_place(kind: str, at: int, group: str) -> None:
    (named,) = parse([absolute(kind, at, group)])
    assert (named.kind, named.when, named.group) == (kind, at, group)


@settings(deadline=None)
@given(st.text(max_size=30))
def test_no_text_is_anything_but_a_name_or_a_problem(text: str) -> None:
    found: tuple[object, ...] = ()
    try:
        found = parse([text])
    except FaultProblems as error:
        found = error.problems
    assert len(found) == 1


def test_a_day_is_the_shift_that_starts_on_it_by_the_groups_clock() -> None:
    (strike,) = placed("spot@wed+3h")
    assert (strike.group, strike.at) == ("vit", MONDAY + 2 * DAY + 12 * HOUR + 3 * HOUR)


def test_a_fault_of_any_group_takes_the_first_that_it_can_hit_then() -> None:
    late, early = placed("missed-action@fri+11h", "missed-action@fri+8h59m")[::-1]
    assert (late.group, early.group) == ("vit", "desk")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("spot@tue", "vit has shifts on mon, wed, fri"),
        ("spot:desk", "it hits a spot node, no such group has one"),
        ("ice@mon:lab", "no group lab; there are desk, vit"),
        ("ice@w3-mon", "nothing to hit then"),
        ("crash@2027-01-01T00:00:00Z", "nothing to hit then"),
    ],
)
def test_a_fault_without_a_place_says_where_there_is_one(name: str, says: str) -> None:
    with pytest.raises(FaultProblems, match="fault") as caught:
        placed(name)
    assert says in caught.value.problems[0]


def test_the_problems_of_all_faults_come_together() -> None:
    with pytest.raises(FaultProblems) as caught:
        placed("spot@tue", "spot:desk", "spot@wed")
    assert len(caught.value.problems) == 2


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(["lab", "rehearsal", "solo", "team"]))
def test_the_seeds_faults_have_a_place_and_their_names_give_the_same_again(seed: int, name: str) -> None:
    stack, world = shipped(name), recorded(name)
    expected = expect(stack, MONDAY, END)
    named = chosen(4, world, expected, MONDAY, END, seed)
    first = place(named, world, expected, MONDAY, END, seed)
    again = place(parse([one.name for one in named]), world, expected, MONDAY, END, 99)
    assert first == again
    assert all(can_hit(one.kind, group(world, one.group)) for one in first)


def test_where_no_shift_begins_the_seed_has_nothing_to_choose() -> None:
    stack, world = lab()
    expected = expect(stack, MONDAY + 5 * DAY, MONDAY + 6 * DAY)
    with pytest.raises(FaultProblems, match="no shift begins in the rehearsed time"):
        chosen(2, world, expected, MONDAY + 5 * DAY, MONDAY + 6 * DAY, 1)


def test_every_kind_says_what_it_is_and_how_it_must_end() -> None:
    for kind in KINDS.values():
        assert kind.what
        assert kind.ends
    assert len({kind.what for kind in KINDS.values()}) == len(KINDS)


@pytest.mark.parametrize("seed", range(5))
def test_chance_takes_the_groups_in_turn_those_with_a_job_first(seed: int) -> None:
    stack, world = lab()
    named = chosen(4, world, expect(stack, MONDAY, END), MONDAY, END, seed)
    assert [fault.group for fault in named] == ["vit", "desk", "vit", "desk"]

"""What became of each shift, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.rehearsal.report.nights import Night, nights, numbered, outside, stop, union
from nightshift.rehearsal.story import Event, FaultEnd, Story
from tests.rehearsal.report.support.stories import ALL, broken_rule, good_week, three_faults, year


def night(story: Story, group: str, number: int) -> Night:
    return [one for one in nights(story) if one.group == group][number]


@pytest.mark.parametrize("name", ALL)
def test_every_shift_that_was_reached_is_told_once(name: str) -> None:
    story = ALL[name]()
    wanted = {
        (group, *window)
        for group, info in story.groups.items()
        for window in info.windows
        if window[0] < stop(story) and window[1] > story.start
    }
    told = [(one.group, one.start, one.end) for one in nights(story)]
    assert sorted(told) == sorted(wanted)


@pytest.mark.parametrize("name", ALL)
def test_every_node_is_in_one_shift_or_outside_all(name: str) -> None:
    story = ALL[name]()
    inside = [node.id for one in nights(story) for node in one.nodes]
    assert sorted([*inside, *(node.id for node in outside(story))]) == sorted(node.id for node in story.nodes)


@pytest.mark.parametrize("name", ALL)
def test_no_fault_that_struck_a_shift_is_left_out_and_no_loss_counted_twice(name: str) -> None:
    story = ALL[name]()
    told = {fault.fault for one in nights(story) for fault in one.faults}
    assert {fault.fault for fault in story.faults if fault.struck is not None} == told
    assert sum(one.steps_lost for one in nights(story)) == sum(fault.steps_lost for fault in story.faults)


def test_verdicts_of_a_week_with_three_faults() -> None:
    story = three_faults()
    assert [night(story, "vit", at).verdict for at in range(3)] == ["disturbed", "disturbed", "failed"]
    assert {night(story, "desk", at).verdict for at in range(5)} == {"fine"}
    assert (
        night(story, "vit", 2)
        .why[0]
        .startswith("boot-fails@fri: every boot fails its checks; 3 boots failed")
    )


def test_a_shift_without_any_node_failed_and_says_what_kept_it_down() -> None:
    story = good_week()
    start, _ = story.groups["vit"].windows[1]
    kept = tuple(node for node in story.nodes if not start <= node.launched < start + 50_000)
    missed = Event(start + 60, "missed", "the scheduled action didn't fire", "vit")
    with_word = night(replace(story, nodes=kept, events=(missed,)), "vit", 1)
    without = night(replace(story, nodes=kept, events=()), "vit", 1)
    assert (with_word.verdict, with_word.why) == ("failed", ("the scheduled action didn't fire",))
    assert (without.verdict, without.why) == ("failed", ("no node was launched",))


def test_after_a_finished_job_a_shift_without_nodes_is_done() -> None:
    story = good_week()
    start, _ = story.groups["vit"].windows[1]
    kept = tuple(node for node in story.nodes if node.launched < start)
    finished = Event(start - 3600, "finished", "the job is done", "vit")
    assert night(replace(story, nodes=kept, events=(finished,)), "vit", 1).verdict == "done"


def test_a_shift_in_which_the_rehearsal_begins_without_a_node_is_no_failure() -> None:
    story = good_week()
    start, _ = story.groups["desk"].windows[0]
    later = replace(story, start=start + 600, nodes=story.nodes[1:], events=())
    assert night(later, "desk", 0).verdict == "cut"


def test_nothing_past_a_broken_rule_is_expected() -> None:
    story = broken_rule()
    assert stop(story) == story.broken[0].at < story.end
    assert {one.verdict for one in nights(story)} == {"fine", "broken"}
    assert night(story, "vit", 1).verdict == "broken"


def test_a_node_that_died_without_a_fault_disturbs_its_shift() -> None:
    story = good_week()
    first = replace(story.nodes[0], how="killed", why="kernel panic")
    hurt = night(replace(story, nodes=(first, *story.nodes[1:])), "desk", 0)
    assert hurt.verdict == "disturbed"
    assert hurt.why == (f"{first.id} killed: kernel panic",)


def test_service_after_the_shifts_end_is_none_of_it() -> None:
    whole = good_week()
    one = night(whole, "vit", 1)
    (node,) = one.nodes
    late = replace(node.phases[-1], phase="train", start=one.end - 60, end=one.end + 90)
    longer = replace(node, phases=(*node.phases[:1], late))
    nodes = tuple(longer if each.id == node.id else each for each in whole.nodes)
    assert night(replace(whole, nodes=nodes), "vit", 1).up_s == 60


def test_an_operators_word_is_no_trouble() -> None:
    story = good_week()
    start, _ = story.groups["vit"].windows[1]
    word = FaultEnd("hold@wed+3h", "an operator holds the group", start + 10_800, "vit", "", 0, 0, True)
    held = night(replace(story, faults=(word,)), "vit", 1)
    assert (held.verdict, held.faults) == ("fine", (word,))


def test_a_fault_before_a_shift_belongs_to_the_shift_that_it_touched() -> None:
    story = good_week()
    start, _ = story.groups["vit"].windows[1]
    fault = FaultEnd("ice@wed", "no capacity", start - 600, "vit", "waited", 0, 5, True)
    event = Event(start + 30, "no-capacity", "none", "vit", None, "ice@wed")
    hurt = replace(story, faults=(fault,), events=(event,))
    assert [one.faults for one in nights(hurt) if one.faults] == [(fault,)]
    assert night(hurt, "vit", 1).faults == (fault,)


def test_faults_are_numbered_by_when_they_struck_and_those_that_never_did_last() -> None:
    late = FaultEnd("b", "", 20, None, "", 0, 0, True)
    never = FaultEnd("c", "", None, None, "", 0, 0, True)
    early = replace(late, fault="a", struck=10)
    story = replace(good_week(), faults=(never, late, early))
    assert numbered(story) == [(1, early), (2, late), (3, never)]


def test_a_group_of_several_nodes_counts_its_steps_once() -> None:
    story = ALL["groups"]()
    told = [one for one in nights(story) if one.group == "llm-pretraining-large"]
    assert [len(one.nodes) for one in told] == [4, 4, 4]
    for one in told:
        leader = one.nodes[0]
        assert leader.steps_from is not None
        assert leader.steps_to is not None
        assert one.steps == leader.steps_to - leader.steps_from > 19_000


def test_a_year_of_shifts_has_its_money() -> None:
    story = year()
    assert sum(one.usd for one in nights(story)) == pytest.approx(sum(node.usd for node in story.nodes))


SPANS = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)).map(lambda pair: tuple(sorted(pair))))


@given(SPANS)
def test_the_union_of_spans_counts_each_second_once(spans: list[tuple[int, int]]) -> None:
    assert union(spans) == len({second for start, end in spans for second in range(start, end)})

"""Weeks in one go: the same again from the same seed, cut where they end, broken runs told and made small."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bootstrap.lifecycle import guard
from nightshift.cli.verb_rehearse import options
from nightshift.rehearsal.control.model_fleet import ModelFleet
from nightshift.rehearsal.faults.parse import parse
from nightshift.rehearsal.report.nights import nights, outside
from nightshift.rehearsal.story import KINDS, Story, from_json, to_json
from nightshift.rehearsal.weeks import Plan, rehearse, shrink
from tests.rehearsal.support.record import SHIPPED, recorded
from tests.rehearsal.support.sites import HOUR, MONDAY, lab, plan
from tests.rehearsal.support.stacks import shipped


def timeless(story: Story) -> str:
    """Without how long this machine took."""
    return to_json(story).replace(f'"seconds":{story.seconds}', "")


@pytest.mark.parametrize("name", SHIPPED)
def test_the_same_seed_gives_the_same_story_and_another_one_another(name: str) -> None:
    first, again, other = (
        rehearse(shipped(name), recorded(name), plan(1, seed=seed, extra=3)) for seed in (3, 3, 4)
    )
    assert timeless(first) == timeless(again)
    assert timeless(first) != timeless(other)


def test_a_story_comes_back_from_json_as_it_was() -> None:
    stack, world = lab()
    story = rehearse(stack, world, plan(2, extra=6, seed=9))
    assert from_json(to_json(story)) == story
    assert {event.kind for event in story.events} <= set(KINDS)


def test_the_replay_plays_the_same_again() -> None:
    import argparse

    stack, world = lab()
    story = rehearse(stack, world, plan(1, extra=4, seed=6))
    parser = argparse.ArgumentParser()
    parser.add_argument("--stack")
    options(parser)
    words = parser.parse_args(shlex.split(story.replay)[2:])
    wanted = Plan(MONDAY, MONDAY + 7 * 24 * HOUR, int(words.seed), parse(words.faults.split(",")))
    assert (words.stack, words.only, words.weeks, words.begin) == (
        "lab",
        "control",
        "1",
        "2026-12-07T00:00Z",
    )
    again = rehearse(stack, world, wanted)
    assert (story.by_seed, again.by_seed) == (4, 0)
    assert timeless(replace(again, by_seed=4)) == timeless(story)


def test_nothing_of_a_story_lies_after_its_end() -> None:
    stack, world = lab()
    end = MONDAY + 14 * HOUR
    story = rehearse(stack, world, Plan(MONDAY, end, 1))
    assert max(event.at for event in story.events) <= end
    (there,) = [node for node in story.nodes if node.ended is None]
    assert (there.how, there.group) == ("alive", "vit")
    assert there.phases[-1].phase == "train"
    assert max(phase.end for node in story.nodes for phase in node.phases) <= end
    assert story.steps_trained == story.curves["vit"].points[-1][1]


def test_phases_follow_each_other_without_a_gap() -> None:
    stack, world = lab()
    for node in rehearse(stack, world, plan(2, extra=8, seed=3)).nodes:
        edges = [node.launched, *(edge for one in node.phases for edge in (one.start, one.end))]
        assert edges == sorted(edges), node
        assert all(one.start == before.end for before, one in zip(node.phases, node.phases[1:], strict=False))


def test_a_broken_run_stops_tells_what_came_before_and_how_to_play_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "LATE", timedelta(hours=6))
    stack, world = lab()
    faults = parse(["crash@tue+1h:desk", "missed-action@wed+8h59m:desk", "clock-jump@mon+1h:desk"])
    wanted = plan(faults=faults)
    story = rehearse(stack, world, wanted)
    (broken,) = story.broken
    assert not story.ok
    assert broken.rule == "billed-in-shift"
    assert story.events[-1].kind == "broken"
    assert story.events[-1].group == "desk"
    assert max(event.at for event in story.events) == broken.at
    assert any(event.kind == "missed" for event in broken.before)
    assert broken.replay == story.replay
    assert shrink(stack, world, wanted, faults) == (faults[1],)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 100_000), st.sampled_from(SHIPPED), st.integers(1, 6))
def test_no_run_with_faults_breaks_a_rule(seed: int, name: str, count: int) -> None:
    story = rehearse(shipped(name), recorded(name), plan(1.5, seed=seed, extra=count))
    assert story.broken == (), story.replay
    assert all(fault.ok for fault in story.faults), story.replay
    assert len(story.faults) == count
    assert story.two_writer_seconds == 0


def test_a_run_that_is_done_is_told_and_bills_its_later_nodes_for_minutes() -> None:
    stack, world = lab()
    fleet: Any = ModelFleet(1, {"vit": 30_000})
    story = rehearse(stack, world, plan(), fleet)
    assert story.ok
    assert [event.says for event in story.events if event.kind == "finished"] == [
        "the run is done at step 30000"
    ]
    later = [node for node in story.nodes if node.group == "vit"][1:]
    assert all(node.billed_s < 300 for node in later)
    assert "the run was done" in {one.why for one in story.bill.differences}


def test_each_event_is_heard_as_it_happens() -> None:
    stack, world = lab()
    heard: list[object] = []
    story = rehearse(stack, world, plan(), None, heard.append)
    assert tuple(heard[: len(story.events)]) == story.events


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 100_000), st.sampled_from(SHIPPED), st.integers(0, 6), st.floats(0.8, 1.5))
def test_steps_are_told_alike_in_sum_by_shift_and_by_node(
    seed: int, name: str, count: int, weeks: float
) -> None:
    story = rehearse(shipped(name), recorded(name), plan(weeks, seed=seed, extra=count))
    told = nights(story)
    beside = sum((one.steps_kept or 0) - (one.steps_from or 0) for one in outside(story) if one.steps_kept)
    assert sum(night.steps or 0 for night in told) + beside == story.steps_trained
    kept = [(node.group, node.steps_kept) for node in story.nodes if node.steps_kept is not None]
    assert sum(max(step for of, step in kept if of == group) for group in dict(kept)) == story.steps_trained
    assert all((node.steps_kept or 0) <= (node.steps_to or 0) for node in story.nodes)
    assert sum(night.steps_lost for night in told) == story.steps_lost


def test_a_job_that_runs_on_beyond_the_end_is_told_to_its_last_step() -> None:
    stack, world = lab()
    stop = MONDAY + 4 * 24 * HOUR + 23 * HOUR
    story = rehearse(stack, world, Plan(MONDAY, stop, 1))
    (there,) = [node for node in story.nodes if node.ended is None and node.group == "vit"]
    assert there.steps_from
    assert there.steps_to == there.steps_kept == story.steps_trained

"""Groups brought to their sizes, refused, suspended, held by their hooks."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from nightshift.rehearsal.control import ends, scaling
from nightshift.rehearsal.control.model_fleet import ModelFleet
from nightshift.rehearsal.control.play import destroy, play
from nightshift.rehearsal.world.model import Hook
from tests.rehearsal.support.sites import (
    DAY,
    HOUR,
    MONDAY,
    edited,
    group,
    lab,
    opened,
    played,
    told,
)


def test_a_week_of_the_lab_has_a_node_for_each_shift_and_none_at_the_end() -> None:
    _, world = lab()
    site = played(world)
    assert {name: len(state.past) for name, state in site.groups.items()} == {"desk": 5, "vit": 3}
    assert all(not state.nodes for state in site.groups.values())
    assert all(node.how == "drained" for state in site.groups.values() for node in state.past)


def test_an_action_is_late_by_two_minutes_at_most_and_by_less_with_another_seed() -> None:
    _, world = lab()
    site = played(world)
    late = [event.at - (event.at - event.at % DAY + 1 * HOUR) for event in told(site, "launch", group="desk")]
    assert all(0 <= seconds <= 120 for seconds in late)
    assert len(set(late)) > 1


def test_the_job_goes_on_from_the_step_at_which_it_stopped() -> None:
    _, world = lab()
    job = played(world, days=14).groups["vit"].job
    assert job.resumes[0][1] == 0
    assert all(step > 0 for _, step in job.resumes[1:])
    assert job.lost == 0
    assert [step for _, step in job.resumes] == sorted(step for _, step in job.resumes)


def test_a_cluster_trains_only_while_all_its_nodes_are_there() -> None:
    from tests.rehearsal.support.record import recorded

    site = played(recorded("cluster"), days=8.4)
    ready = [event.at for event in told(site, "ready")]
    assert len(ready) == 4
    assert [event.at for event in told(site, "resume")] == [max(ready)]


def test_a_refused_launch_is_tried_again_ever_later_and_given_up_after_a_day() -> None:
    _, world = lab()
    site = opened(world, days=7)
    site.refused["vit"] = MONDAY + 7 * DAY
    play(site)
    waits = [event.at for event in told(site, "no-capacity", group="vit")]
    apart = [later - earlier for earlier, later in pairwise(waits)]
    assert apart[:4] == [60, 120, 240, 480]
    assert site.groups["vit"].past == []


def test_aws_suspends_a_group_that_could_launch_nothing_for_a_day() -> None:
    _, world = lab()
    always = edited(world, "desk", actions=tuple(a for a in group(world, "desk").actions if a.desired))
    site = opened(always, days=7)
    site.refused["desk"] = MONDAY + 7 * DAY
    play(site)
    assert "Launch" in site.groups["desk"].suspended
    (suspended,) = told(site, "suspended")
    assert suspended.at - told(site, "action", group="desk")[0].at >= DAY


@pytest.mark.parametrize("process", ["ScheduledActions", "Launch"])
def test_a_suspended_process_skips_and_nothing_is_launched(process: str) -> None:
    _, world = lab()
    site = played(edited(world, "vit", suspended=(process,)))
    assert told(site, "launch", group="vit") == []
    assert bool(told(site, "missed", group="vit")) == (process == "ScheduledActions")


def test_sizes_stay_within_the_groups_bounds() -> None:
    _, world = lab()
    much = tuple(replace(a, desired=a.desired and 7) for a in group(world, "desk").actions)
    site = played(edited(world, "desk", actions=much))
    assert len(told(site, "launch", group="desk")) == 5


def test_a_node_that_never_says_a_word_is_given_up_by_the_hook_and_replaced() -> None:
    class Silent(ModelFleet):
        def boot(self, instance, at, ails):
            found = super().boot(instance, at, ails)
            return replace(found, seconds=None) if at < MONDAY + HOUR + 900 else found

    _, world = lab()
    site = played(world, fleet=Silent(1), days=1)
    first = site.groups["desk"].past[0]
    ready = next(hook for hook in group(world, "desk").hooks if hook.name == "ready")
    assert first.how == "abandoned"
    assert first.ended is not None
    assert first.ended - first.instance.launched >= ready.heartbeat_s
    assert told(site, "ready", group="desk")


def test_without_a_terminating_hook_a_shifts_end_costs_steps() -> None:
    _, world = lab()
    hooks = tuple(hook for hook in group(world, "vit").hooks if hook.transition == "launching")
    site = played(edited(world, "vit", hooks=hooks))
    assert site.groups["vit"].job.lost > 0
    assert {node.how for node in site.groups["vit"].past} == {"killed"}


def test_a_drain_longer_than_the_hooks_patience_is_held_by_heartbeats() -> None:
    class Slow(ModelFleet):
        def drain(self, instance, at, budget_s, planned, ails):
            found = super().drain(instance, at, budget_s, planned, ails)
            return replace(found, seconds=400)

    _, world = lab()
    held = played(world, fleet=Slow(1)).groups["desk"].past
    assert {node.how for node in held} == {"drained"}


def test_a_launching_hook_that_lets_everybody_in_does_so() -> None:
    class Dead(ModelFleet):
        def boot(self, instance, at, ails):
            return replace(super().boot(instance, at, ails), seconds=None)

    _, world = lab()
    hooks = (Hook("ready", "launching", "CONTINUE", 600), *group(world, "desk").hooks[:1])
    site = played(edited(world, "desk", hooks=hooks), fleet=Dead(1), days=1)
    assert told(site, "ready", group="desk")


def test_the_nodes_that_boot_go_first_then_the_oldest() -> None:
    from tests.rehearsal.support.record import recorded

    site = opened(recorded("cluster"), days=8.4)
    state = site.groups["pretrain"]
    while not (state.in_service() and len(state.in_service()) < len(state.nodes)):
        site.queue.run_until(site.now + 10)
    booting = [node for node in state.nodes if node.where == "pending"]
    ready = state.in_service()
    state.desired = len(ready)
    scaling.settle(site, state)
    assert all(node.where == "terminating" for node in booting)
    assert all(node.where == "in service" for node in ready)


def test_a_destroy_leaves_no_node_and_no_held_volume() -> None:
    _, world = lab()
    site = opened(world, days=1)
    site.queue.run_until(MONDAY + 3 * HOUR)
    assert site.groups["desk"].nodes
    destroy(site)
    assert all(not state.nodes for state in site.groups.values())
    assert all(state.holder is None for state in site.volumes.values())


def test_a_node_that_died_is_replaced_and_loses_at_most_an_interval() -> None:
    _, world = lab()
    site = opened(world, days=7)
    site.queue.run_until(MONDAY + 16 * HOUR)
    (node,) = site.groups["vit"].nodes
    ends.kill(site, site.groups["vit"], node, "failed", "its machine died")
    play(site)
    job = site.groups["vit"].job
    assert 0 <= job.lost <= 155
    assert len(site.groups["vit"].past) == 4

"""Every kind of fault does what its name says, ends as it must, and is told with what it caused."""

from __future__ import annotations

from typing import Any

import pytest

from nightshift.rehearsal.faults.parse import parse
from nightshift.rehearsal.faults.table import KINDS
from nightshift.rehearsal.story import FaultEnd, Story
from nightshift.rehearsal.weeks import rehearse
from tests.rehearsal.support.record import recorded
from tests.rehearsal.support.sites import lab, plan
from tests.rehearsal.support.stacks import shipped


def told(*names: str, seed: int = 1, **other: Any) -> Story:
    stack, world = lab()
    return rehearse(stack, world, plan(seed=seed, faults=parse(names), **other))


def only(*names: str) -> FaultEnd:
    story = told(*names)
    assert story.broken == ()
    (end,) = story.faults
    assert end.ok
    return end


def test_a_notice_is_time_enough_to_save_everything() -> None:
    end = only("spot@wed+3h")
    assert (end.steps_lost, end.group) == (0, "vit")
    assert "a node was in service" in end.ended
    assert 1 <= end.minutes_lost <= 12


@pytest.mark.parametrize("name", ["spot-now@wed+3h", "crash@wed+3h:vit", "kill-agent@wed+3h:vit"])
def test_a_death_without_a_word_costs_less_than_an_interval(name: str) -> None:
    assert 0 < only(name).steps_lost <= 153


def test_without_capacity_the_group_waits_and_pays_nothing() -> None:
    story = told("ice@mon:desk")
    (end,) = story.faults
    assert end.ended == "launched after 2 h 01 min of waiting, which cost nothing"
    assert story.bill.billed_minutes < told().bill.billed_minutes - 110
    assert {event.fault for event in story.events if event.kind == "no-capacity"} == {"ice@mon:desk"}


def test_a_bad_node_is_given_back_and_replaced() -> None:
    story = told("bad-node@mon:desk")
    (end,) = story.faults
    failed = [event for event in story.events if event.kind == "boot-failed"]
    assert [event.fault for event in failed] == ["bad-node@mon:desk"]
    assert end.minutes_lost < 15


def test_boots_that_go_on_failing_stop_the_group_until_its_next_shift() -> None:
    story = told("boot-fails@mon:desk")
    (end,) = story.faults
    assert end.ended.startswith(
        "3 nodes gave up before they were ready (the last one found: kernels: no GPU answers), "
        "so the alarm nightshift-lab.desk-not-ready (3 failed boots within 60 minutes) set the group to 0 "
    )
    assert "; 9 h of the shift went by without a node. " in end.ended
    assert end.ended.endswith(
        "Nothing starts it before its next shift, Tue 8 Dec 09:00 CST, but a person can: "
        "`nightshift wake desk --until 18:00 -s lab`"
    )
    assert end.must == "after three failed boots the alarm takes the group to 0"
    assert len([event for event in story.events if event.kind == "boot-failed"]) == 3
    assert len([node for node in story.nodes if node.group == "desk" and node.how == "drained"]) >= 4


def test_the_word_that_ends_a_stop_names_the_day_where_the_clock_alone_would_be_another() -> None:
    story = rehearse(shipped("cluster"), recorded("cluster"), plan(faults=parse(["boot-fails@fri"])))
    (end,) = story.faults
    assert 'nightshift wake pretrain --until "2026-12-14 08:00" -s cluster' in end.ended


def test_a_lost_metadata_service_stops_no_job() -> None:
    assert only("imds-lost@wed+3h:vit").ended == "the node went on"


def test_a_node_whose_metadata_is_silent_at_its_end_hears_from_its_group() -> None:
    story = told("imds-lost@wed+10h50m:vit")
    assert story.ok
    assert story.steps_lost == 0
    drained = [node for node in story.nodes if node.group == "vit" and node.how == "drained"]
    begun = [event.at for event in story.events if event.kind == "drain" and event.group == "vit"]
    assert len(drained) == len(begun)


def test_a_node_that_boots_without_metadata_is_given_up_and_replaced() -> None:
    story = told("imds-lost@wed-1m:vit")
    assert story.ok
    abandoned = [node for node in story.nodes if node.how == "abandoned"]
    assert len(abandoned) == 1
    assert abandoned[0].why.startswith("no word within")


def test_slow_volumes_are_waited_for() -> None:
    story = told("slow-detach@mon+8h55m:desk", "crash@mon+8h56m:desk")
    assert story.ok


def test_a_full_disk_costs_what_was_done_since_and_nothing_before() -> None:
    story = told("disk-full@wed+10h:vit")
    assert story.ok
    assert 3_600 <= story.steps_lost <= 3_900


def test_a_split_network_at_the_end_is_ended_by_the_hook() -> None:
    story = told("network-split@wed+10h55m:vit")
    assert story.ok
    node = next(one for one in story.nodes if one.group == "vit" and one.how == "killed")
    assert "no word within the drain hook's time" in node.why


def test_a_fault_that_was_over_is_not_blamed_for_what_a_later_one_did() -> None:
    """The node serves its whole shift, and is ended by its hook after it: by the later fault."""
    story = told("disk-full@wed+5h:vit", "network-split@wed+10h55m:vit")
    assert story.ok
    ends = {one.fault.partition("@")[0]: one for one in story.faults}
    assert (ends["disk-full"].ended, ends["disk-full"].steps_lost) == ("the node went on", 0)
    assert ends["network-split"].ended == "the shift was over before another node was ready"


def test_a_jumping_clock_moves_nothing() -> None:
    assert only("clock-jump@wed+3h:vit").minutes_lost == 0


def test_slow_answers_of_aws_make_a_boot_longer_and_nothing_else() -> None:
    slow = told("api-throttled@wed:vit")
    boots = [phase.end - phase.start for node in slow.nodes for phase in node.phases if phase.phase == "boot"]
    assert slow.ok
    assert max(boots) > 400 > sorted(boots)[-2]


def test_a_missed_start_costs_the_shift_and_no_money() -> None:
    story = told("missed-action@wed:vit")
    (end,) = story.faults
    assert "the shift didn't begin, nothing was billed" in end.ended
    assert end.minutes_lost == 660
    assert len([node for node in story.nodes if node.group == "vit"]) == 2


def test_after_a_missed_end_the_node_goes_by_itself() -> None:
    story = told("missed-action@wed+10h59m:vit")
    (end,) = story.faults
    assert end.ended.endswith("the node went by itself")
    assert [node.how for node in story.nodes if node.group == "vit"] == ["drained", "ended itself", "drained"]


def test_a_hold_takes_the_group_down_and_it_comes_back_with_the_first_start_after_it() -> None:
    story = told("hold@tue:desk")
    assert story.ok
    days = [(node.launched - story.start) // 86_400 for node in story.nodes if node.group == "desk"]
    assert days == [0, 1, 4]
    ((_, _, word),) = story.groups["desk"].overrides
    assert word == "down"
    why = {one.why: one.minutes for one in story.bill.differences if one.group == "desk"}
    assert why["an operator's word kept it down"] < -2 * 420


def test_a_wake_brings_the_group_up_for_its_time_and_its_own_end_takes_it_down() -> None:
    story = told("wake@2026-12-12T04:00:00Z:vit")
    assert story.ok
    woken = [node for node in story.nodes if node.group == "vit"][-1]
    assert woken.ended is not None
    assert 3 * 3_600 < woken.ended - woken.launched < 3 * 3_600 + 300
    assert {one.why for one in story.bill.differences} >= {"an operator's word kept it up"}
    assert [event.kind for event in story.events if event.says.startswith("wake-end")] == ["action"]


def test_a_group_put_to_sleep_comes_up_with_its_next_shift() -> None:
    story = told("sleep@wed+3h:vit")
    assert story.ok
    assert len([node for node in story.nodes if node.group == "vit"]) == 3
    assert story.steps_lost == 0


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_ends_as_it_must_wherever_the_seed_puts_it(kind: str) -> None:
    for seed in range(6):
        story = told(kind, seed=seed)
        assert story.ok, (kind, seed, story.broken, story.faults)

"""What nodes do by themselves: past their shift, with their run done, with the month's hours used."""

from __future__ import annotations

from dataclasses import replace

from nightshift.rehearsal.control.model_fleet import ModelFleet
from nightshift.rehearsal.control.play import play
from nightshift.rehearsal.world.model import World
from tests.rehearsal.support.sites import DAY, HOUR, MONDAY, edited, group, lab, opened, played, told


def without_downs(world: World, name: str) -> World:
    return edited(world, name, actions=tuple(one for one in group(world, name).actions if one.desired))


def test_a_node_whose_end_no_action_brings_goes_by_itself_and_takes_the_size_with_it() -> None:
    _, world = lab()
    site = played(without_downs(world, "desk"))
    past = site.groups["desk"].past
    assert [node.how for node in past] == ["ended itself"] * 5
    ended = [node.ended for node in past if node.ended is not None]
    assert all(600 < at - (MONDAY + day * DAY + 10 * HOUR) < 900 for day, at in enumerate(ended))
    assert site.groups["desk"].desired == 0


def test_a_run_that_is_done_releases_the_group_and_later_nodes_leave_at_once() -> None:
    _, world = lab()
    site = played(world, fleet=ModelFleet(1, {"vit": 50_000}))
    past = site.groups["vit"].past
    assert site.groups["vit"].job.finished is not None
    assert [node.why for node in past[1:]] == ["the run is done"] * 2
    assert past[2].ended is not None
    assert past[2].ended - past[2].instance.launched < 300
    assert site.groups["vit"].job.step == 50_000


def test_a_run_that_stays_keeps_its_node_to_the_shifts_end() -> None:
    _, world = lab()
    manifest = group(world, "vit").manifest
    assert manifest.job is not None
    stays = replace(manifest, job=replace(manifest.job, when_done="stay"))
    site = played(edited(world, "vit", manifest=stays), fleet=ModelFleet(1, {"vit": 5_000}), days=1.99)
    (node,) = site.groups["vit"].past
    assert node.how == "drained"


def test_a_months_gpu_hours_end_the_group_and_its_later_nodes() -> None:
    _, world = lab()
    capped = replace(group(world, "vit").manifest, gpu_hours_monthly=60)
    site = played(edited(world, "vit", manifest=capped), days=14)
    past = site.groups["vit"].past
    assert "60 GPU-hours of this month" in past[1].why
    assert past[1].ended is not None
    used = sum((node.ended or 0) - node.instance.launched for node in past) * 4 / HOUR
    assert 60 <= used < 62
    assert told(site, "resume", group="vit")[-1].at < past[1].ended


def test_a_node_past_its_end_waits_for_the_network_before_it_goes() -> None:
    _, world = lab()
    site = opened(without_downs(world, "desk"), days=1)
    site.queue.run_until(MONDAY + 10 * HOUR)
    (node,) = site.groups["desk"].nodes
    node.ails["network-split"] = MONDAY + 11 * HOUR
    play(site)
    assert node.how == "ended itself"
    assert node.ended is not None
    assert MONDAY + 11 * HOUR <= node.ended <= MONDAY + 11 * HOUR + 300

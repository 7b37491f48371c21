"""Volumes go from node to node: one holder, the node's own order, waits instead of force."""

from __future__ import annotations

from dataclasses import replace

from nightshift.rehearsal.control.play import play
from nightshift.rehearsal.world.model import World
from tests.rehearsal.support.record import recorded
from tests.rehearsal.support.sites import HOUR, MONDAY, edited, group, lab, opened, played, told


def overlapping() -> World:
    """The desk's shift lasts into the one of vit, which wants the same volume."""
    _, world = lab()
    desk = group(world, "desk")
    late = tuple(replace(one, recurrence="30 20 * * *") if one.desired == 0 else one for one in desk.actions)
    shifts = tuple(replace(one, end="20:30") for one in desk.manifest.shifts)
    return edited(world, "desk", actions=late, manifest=replace(desk.manifest, shifts=shifts))


def test_volumes_are_taken_in_one_order_and_given_back() -> None:
    _, world = lab()
    site = played(world)
    names = [event.says for event in told(site, "attach", group="vit")]
    assert names == ["volume imagenet", "volume runs"] * 3
    assert all(state.holder is None for state in site.volumes.values())
    assert len(told(site, "detach")) == len(told(site, "attach"))


def test_who_finds_a_volume_taken_waits_until_it_is_free() -> None:
    site = played(overlapping(), days=1)
    gone = next(event.at for event in told(site, "detach", group="desk"))
    taken = [event.at for event in told(site, "attach", group="vit") if event.says == "volume runs"]
    failed = told(site, "boot-failed", group="vit")
    assert failed
    assert all("held by" in event.says for event in failed)
    assert taken[0] > gone


def test_a_slow_detach_is_waited_for() -> None:
    _, world = lab()
    site = opened(world, days=1)
    for state in site.volumes.values():
        state.slow_until = MONDAY + 12 * HOUR + 600
    play(site)
    taken = [event.at for event in told(site, "attach", group="vit") if event.says == "volume runs"]
    assert taken[0] >= MONDAY + 12 * HOUR + 600
    assert told(site, "boot-failed", group="vit") == []


def test_each_node_of_a_cluster_takes_a_volume_of_its_own() -> None:
    site = opened(recorded("cluster"), days=8.4)
    site.queue.run_until(MONDAY + 5 * 24 * HOUR)
    nodes = site.groups["pretrain"].nodes
    held = [node.instance.volumes for node in nodes]
    assert len({volume for volumes in held for volume in volumes}) == len(nodes) == 4


def test_a_volume_in_another_zone_is_refused_with_the_reason() -> None:
    _, world = lab()
    moved = replace(world, volumes=tuple(replace(one, zone="us-east-1b") for one in world.volumes))
    site = played(moved, days=1)
    failed = told(site, "boot-failed", group="desk")
    assert failed
    assert "us-east-1b; this node is in us-east-1a" in failed[0].says

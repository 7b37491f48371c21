"""Worlds as values: read back from JSON, the same as the program declares, and as a deployment gives them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nightshift.emulator.engine.toolchain import ensure_toolchain
from nightshift.rehearsal.world.model import World, from_json, to_json
from tests.rehearsal.support.declared import declared_world
from tests.rehearsal.support.record import SHIPPED, WORLDS, deployed_world, recorded, steady
from tests.rehearsal.support.stacks import shipped


def bare(world: World) -> World:
    """Without the ids and ARNs that AWS draws."""
    return replace(
        world,
        groups=tuple(
            replace(group, policies=tuple(replace(one, arn="") for one in group.policies))
            for group in world.groups
        ),
        alarms=tuple(replace(one, actions=(str(len(one.actions)),)) for one in world.alarms),
        volumes=tuple(
            replace(one, id="")
            for one in sorted(world.volumes, key=lambda volume: (volume.name, volume.index or 0))
        ),
        policies=tuple(replace(one, id="") for one in world.policies),
    )


@pytest.mark.parametrize("name", SHIPPED)
def test_a_world_comes_back_from_json_as_it_was(name: str) -> None:
    world = recorded(name)
    assert from_json(to_json(world)) == world
    assert world.site == name


@pytest.mark.parametrize("name", SHIPPED)
def test_the_recorded_world_is_what_the_program_declares_today(name: str) -> None:
    assert bare(recorded(name)) == bare(declared_world(shipped(name))), (
        "record it anew: python -m tests.rehearsal.support.record"
    )


@pytest.mark.parametrize("name", SHIPPED)
def test_each_stop_policy_belongs_to_the_alarms_of_its_own_group(name: str) -> None:
    world = recorded(name)
    for group in world.groups:
        (stop,) = group.policies
        stopped = [alarm.name for alarm in world.alarms if stop.arn in alarm.actions]
        assert sorted(stopped) == [f"{group.name}-not-ready", f"{group.name}-stuck"]
        assert stop.exactly == 0


def test_ids_are_numbered_in_order_and_stay_apart() -> None:
    text = "vol-0123456789abcdef0 policy-00112233445566770 vol-0123456789abcdef0 vol-0aaaaaaaaaaaaaaaa"
    first, second, third, fourth = steady(text).split()
    assert first == third
    assert len({first, second, fourth}) == 3


@pytest.mark.engine
@pytest.mark.xdist_group("rehearsal")
def test_a_deployment_by_the_real_engine_still_gives_the_recorded_world() -> None:
    toolchain = ensure_toolchain(print)
    text = steady(to_json(deployed_world(toolchain, "lab")))
    assert bare(from_json(text)) == bare(recorded("lab"))
    assert len(text) == len((WORLDS / "lab.json").read_text(encoding="utf-8"))

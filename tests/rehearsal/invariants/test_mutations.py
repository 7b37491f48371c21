"""Each rule is broken once on purpose by a change of the product's own code, and the rehearsal finds it.

The same run without the change breaks nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bootstrap.lifecycle import guard, heartbeats
from bootstrap.storage import order
from infra import node_group, snapshots
from infra.node_group import NodeGroup
from nightshift.plan import names, override, shifts
from nightshift.rehearsal.control.model_fleet import ModelFleet
from nightshift.rehearsal.faults.parse import absolute, parse
from nightshift.rehearsal.weeks import Plan, Played, run
from tests.rehearsal.support.declared import declared_world
from tests.rehearsal.support.sites import HOUR, MONDAY, plan
from tests.rehearsal.support.stacks import shipped

Mutate = Callable[[pytest.MonkeyPatch], object]
_CUT_OFF = [absolute("network-split", MONDAY + 10 * HOUR - 60 + turn * 1_140, "desk") for turn in range(8)]
_STAYS = ["missed-action@mon+8h59m:desk", *_CUT_OFF]
"""The desk's node hears of its end only after the next group's shift has begun."""


class SlowDrains(ModelFleet):
    """A drain takes five minutes: longer than the hook waits without heartbeats."""

    def drain(self, instance: Any, at: int, budget_s: int, planned: bool, ails: Any) -> Any:
        found = super().drain(instance, at, budget_s, planned, ails)
        held = self.held[instance.group].draining
        if instance.id in held:
            held[instance.id] = (at + 300, held[instance.id][1])
        return replace(found, seconds=300)


def takes_what_is_taken(patch: pytest.MonkeyPatch) -> None:
    """A node believes that it has a volume which another one holds."""
    honest = order.decide

    def decide(*asked: Any) -> order.Move:
        move = honest(*asked)
        return replace(move, kind="have") if move.kind == "wait" and move.volume else move

    patch.setattr(order, "decide", decide)


def without_drain_hook(patch: pytest.MonkeyPatch) -> None:
    """The program declares the launching hook alone."""
    make, every = NodeGroup._hook, NodeGroup._hooks
    patch.setattr(
        NodeGroup, "_hook", lambda self, *given: make(self, *given) if "LAUNCHING" in given else None
    )
    patch.setattr(NodeGroup, "_hooks", lambda self, group: tuple(filter(None, every(self, group))))


def seldom_beats(patch: pytest.MonkeyPatch) -> None:
    """The agent renews its hook every ten minutes."""
    patch.setattr(heartbeats, "EVERY_S", 600.0)


def late_guard(patch: pytest.MonkeyPatch) -> None:
    """The node looks past its end six hours later."""
    patch.setattr(guard, "LATE", timedelta(hours=6))


def blind_guard(patch: pytest.MonkeyPatch) -> None:
    """The node never finds that it is past its end."""
    patch.setattr(guard, "judge", lambda *_: guard.Word(True, "inside its shift"))


def in_utc(patch: pytest.MonkeyPatch) -> None:
    """The compiler forgets the zone of a shift."""
    action = shifts._action
    patch.setattr(shifts, "_action", lambda kind, at, days, _, size: action(kind, at, days, "Etc/UTC", size))


def a_day_later(patch: pytest.MonkeyPatch) -> None:
    """The compiler takes the wrong weekdays."""
    action = shifts._action
    patch.setattr(
        shifts,
        "_action",
        lambda kind, at, days, zone, size: action(kind, at, [(day + 1) % 7 for day in days], zone, size),
    )


def forgetful_hold(patch: pytest.MonkeyPatch) -> None:
    """A hold writes its record and moves no scheduled action."""
    patch.setattr(override, "action_start_times", lambda *_: {})


def untagged(patch: pytest.MonkeyPatch) -> None:
    """Volumes don't get the tag that their policy looks for."""
    tags = names.volume_tags
    patch.setattr(names, "volume_tags", lambda *given, **named: tags(*given, **{**named, "policy": None}))


def too_few(patch: pytest.MonkeyPatch) -> None:
    """The program keeps one snapshot less than the file says."""
    spec = snapshots.snapshots_spec

    def fewer(*given: Any) -> Any:
        whole = spec(*given)
        return replace(whole, policies=tuple(replace(one, keep=one.keep - 1) for one in whole.policies))

    patch.setattr("infra.program.snapshots_spec", fewer)


def patient_hook(patch: pytest.MonkeyPatch) -> None:
    """The drain hook waits two hours for a dead node."""
    patch.setattr(node_group, "DRAIN_HEARTBEAT_S", 7_200)


_TO_THE_NIGHT = Plan(MONDAY, MONDAY + 14 * HOUR, 1, parse(["kill-agent@2026-12-07T13:59:50Z:vit"]))
CASES: dict[str, tuple[str, Mutate, Plan, bool]] = {
    "a volume taken twice": ("one-writer", takes_what_is_taken, plan(0.3, faults=parse(_STAYS)), False),
    "no drain hook": ("no-step-lost", without_drain_hook, plan(), False),
    "seldom heartbeats": ("no-step-lost", seldom_beats, plan(), True),
    "a late guard": ("billed-in-shift", late_guard, plan(faults=parse(["missed-action@mon+8h59m"])), False),
    "a blind guard": (
        "billed-in-shift",
        blind_guard,
        plan(faults=parse(["missed-action@wed+10h59m:vit"])),
        False,
    ),
    "no zone": ("capacity-as-planned", in_utc, plan(), False),
    "wrong days": ("capacity-as-planned", a_day_later, plan(), False),
    "a forgetful hold": ("capacity-as-planned", forgetful_hold, plan(faults=parse(["hold@tue:desk"])), False),
    "no snapshot tag": ("snapshots-taken", untagged, plan(), False),
    "too few snapshots": ("snapshots-taken", too_few, plan(2), False),
    "a patient hook": ("nothing-left", patient_hook, _TO_THE_NIGHT, False),
}


def played(wanted: Plan, slow: bool) -> Played:
    """The lab as the program declares it now."""
    stack = shipped("lab")
    fleet = SlowDrains(wanted.seed) if slow else None
    return run(stack, declared_world(stack), wanted, fleet)


@pytest.mark.parametrize("case", CASES)
def test_a_broken_product_is_found_and_a_whole_one_is_not(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rule, mutate, wanted, slow = CASES[case]
    assert played(wanted, slow).broken is None
    mutate(monkeypatch)
    broken = played(wanted, slow).broken
    assert broken is not None
    assert broken.rule == rule, broken


def test_every_rule_is_broken_by_one_of_them() -> None:
    from nightshift.rehearsal.invariants.judge import RULES

    assert {rule for rule, *_ in CASES.values()} == set(RULES)

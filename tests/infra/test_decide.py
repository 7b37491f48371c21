"""What stops a run before anything changes, and what it says when it goes on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from infra.decide import Refused, decide
from infra.live import LiveSite
from infra.live_ec2 import LivePart
from nightshift.plan.calendar import Override
from nightshift.plan.changes import RunningGroup
from nightshift.plan.shifts import Action
from tests.infra.support.samples import lab, nothing_alive, parts, running, volume

Change = Callable[[dict[str, Any]], object]
IN_VITS_SHIFT = datetime(2026, 11, 30, 15, tzinfo=UTC)
"""Monday 23:00 in Shanghai."""
OWN_VPC = LivePart("vpc", "vpc-1", "Vpcs", cidr="10.77.0.0/16")
FENCE = LivePart("security-nodes", "sg-1", "SecurityGroups", vpc="vpc-1")


def problems(live: LiveSite, change: Change = lambda raw: None) -> tuple[str, ...]:
    with pytest.raises(Refused) as caught:
        decide(lab(change), live)
    return caught.value.problems


def given(raw: dict[str, Any]) -> None:
    raw["nightshift:site"]["network"] = {"vpc": "vpc-0123456789abcdef0", "subnet": "subnet-0123456789abcdef0"}


def without_vit(raw: dict[str, Any]) -> None:
    del raw["nightshift:groups"]["vit"]
    del raw["nightshift:volumes"]["imagenet"]


def test_a_sound_file_on_an_empty_account_is_declared() -> None:
    decision = decide(lab(), nothing_alive())
    assert list(decision.groups) == ["desk", "vit"]
    assert [unit.label for unit in decision.volumes] == ["imagenet", "runs"]


def test_every_problem_is_named_at_once() -> None:
    live = nothing_alive(
        volumes=(volume("runs", 1, zone="us-east-1b"), volume("old", 2)),
        groups=running(gone=1),
        parts=parts(LivePart("vpc", "vpc-1", "Vpcs", cidr="10.0.0.0/16")),
    )
    found = "\n".join(problems(live))
    assert found.count("\n") == 3, "four problems, one line each"
    assert "vol-00000000000000001 is in us-east-1b" in found
    assert "vol-00000000000000002 (100 GiB, us-east-1a) is alive and the file no longer names it" in found
    assert "group gone" in found
    assert "10.0.0.0/16" in found


def test_a_group_taken_out_of_the_file_while_its_nodes_run_stops_the_run() -> None:
    (said,) = problems(nothing_alive(groups=running(vit=1)), without_vit)
    assert said.startswith("group vit: the file no longer names it and 1 node of it run")


def test_fewer_nodes_than_run_stops_the_run() -> None:
    (said,) = problems(nothing_alive(groups=running(vit=2)))
    assert "the file gives nodes: 1 and 2 nodes of it run" in said


def test_an_adopted_volume_must_be_encrypted_already() -> None:
    live = volume("", 9, site=None, encrypted=False)

    def adopt(raw: dict[str, Any]) -> None:
        raw["nightshift:volumes"]["runs"]["adopt"] = live.volume.id

    (said,) = problems(nothing_alive(volumes=(live,)), adopt)
    assert f"{live.volume.id} isn't encrypted" in said


def test_a_snapshot_that_is_not_there_stops_the_run_unless_the_volume_lives() -> None:
    def from_snapshot(raw: dict[str, Any]) -> None:
        raw["nightshift:volumes"]["runs"]["from"] = "snap-0123456789abcdef0"

    (said,) = problems(nothing_alive(), from_snapshot)
    assert "from names snap-0123456789abcdef0, which isn't in this account and region" in said
    decide(lab(from_snapshot), nothing_alive(volumes=(volume("runs"),)))


def test_a_volume_can_not_be_smaller_than_its_snapshot() -> None:
    def from_snapshot(raw: dict[str, Any]) -> None:
        raw["nightshift:volumes"]["runs"]["from"] = "snap-0123456789abcdef0"

    (said,) = problems(nothing_alive(snapshots={"snap-0123456789abcdef0": 500}), from_snapshot)
    assert "500 GiB" in said


@pytest.mark.parametrize(
    ("live", "change", "said"),
    [
        ((OWN_VPC, FENCE), given, "the site stands in its own vpc-1"),
        ((FENCE,), given, "the site stands in vpc-1"),
        ((FENCE,), lambda raw: None, "an own VPC is asked for, the site stands in vpc-1"),
        (
            (OWN_VPC, FENCE),
            lambda raw: raw["nightshift:site"].update(network={"cidr": "10.1.0.0/16"}),
            "given 10.1.0.0/16, vpc-1 has 10.77.0.0/16",
        ),
        (
            (OWN_VPC, FENCE, LivePart("subnet-public", "subnet-1", "Subnets", zone="us-east-1b")),
            lambda raw: None,
            "given us-east-1a, subnet subnet-1 lies in us-east-1b",
        ),
    ],
)
def test_an_edit_that_would_replace_the_network_is_refused_in_words(
    live: tuple[LivePart, ...], change: Change, said: str
) -> None:
    (found,) = problems(nothing_alive(parts=parts(*live)), change)
    assert said in found
    assert "`pulumi destroy` first" in found


def test_what_could_not_be_read_for_sure_stops_the_run() -> None:
    assert problems(nothing_alive(problems=("two VPCs",))) == ("two VPCs",)


def test_the_first_up_inside_a_shift_says_how_to_start_now() -> None:
    (said,) = decide(lab(), nothing_alive(now=IN_VITS_SHIFT)).warnings
    assert "group vit is inside a shift and down" in said
    assert "`nightshift wake vit --stack lab --until 2026-11-30T23:00Z`" in said


def test_a_standing_group_that_was_released_in_its_shift_is_left_in_peace() -> None:
    first = decide(lab(), nothing_alive())
    alive = {
        name: tuple(each.action for each in group.spec.schedules) for name, group in first.groups.items()
    }
    disks = (volume("imagenet", 1, size_gib=300), volume("runs", 2))
    live = nothing_alive(now=IN_VITS_SHIFT, groups=running(vit=0, desk=0), actions=alive, volumes=disks)
    assert decide(lab(), live).warnings == ()


def test_a_standing_groups_volume_that_is_not_alive_is_told_of() -> None:
    live = nothing_alive(groups=running(vit=0, desk=0), volumes=(volume("imagenet"),))
    (said,) = [why for why in decide(lab(), live).warnings if why.startswith("volumes.")]
    assert said.startswith("volumes.runs: group desk, vit stands and no live volume has this name")
    assert "`pulumi refresh -s lab` comes before `pulumi up`" in said


def test_a_first_deployment_says_nothing_of_volumes() -> None:
    assert not [why for why in decide(lab(), nothing_alive()).warnings if why.startswith("volumes.")]


def test_a_shift_edited_while_it_runs_but_its_group_is_down_says_how_to_start_now() -> None:
    old = {"vit": (Action("up-2100", "0 21 * * TUE", "Asia/Shanghai", 1),)}
    live = nothing_alive(now=IN_VITS_SHIFT, groups=running(vit=0, desk=0), actions=old)
    assert any("nightshift wake vit" in said for said in decide(lab(), live).warnings)


def test_an_action_that_changes_near_its_turn_is_warned_about() -> None:
    at_eight = datetime(2026, 11, 30, 11, 58, tzinfo=UTC)
    old = (
        Action("up-2000", "0 20 * * MON", "Asia/Shanghai", 1),
        Action("down-0700", "0 7 * * TUE,THU,SAT", "Asia/Shanghai", 0),
    )
    live = nothing_alive(
        now=at_eight, groups={"vit": RunningGroup(0, 0), "desk": RunningGroup(0, 0)}, actions={"vit": old}
    )
    warned = [said for said in decide(lab(), live).warnings if "of its turn" in said]
    assert len(warned) == 1
    assert warned[0].startswith("groups.vit: action up-2000 changes within 5 minutes")


@pytest.mark.parametrize(("made", "given"), [("site", "node"), ("node", "site")])
def test_a_volume_of_the_site_and_one_of_a_pool_never_become_each_other(made: str, given: str) -> None:
    def change(raw: dict[str, Any]) -> None:
        raw["nightshift:volumes"]["scratch"] = {"size_gib": 100, "per": given}

    live = volume("scratch", 7, pooled=made == "node")
    (said,) = problems(nothing_alive(volumes=(live,)), change)
    assert f"{live.volume.id} was made with per: {made}, the file gives per: {given}" in said
    assert "nightshift retire scratch" in said


@pytest.mark.parametrize(
    ("end", "until", "said"),
    [
        (None, datetime(2026, 12, 1, 3, tzinfo=UTC), "has nothing that ends it"),
        (datetime(2026, 11, 30, 14, tzinfo=UTC), datetime(2026, 11, 30, 14, tzinfo=UTC), "middle of a shift"),
        (datetime(2026, 12, 1, 3, tzinfo=UTC), datetime(2026, 12, 1, 3, tzinfo=UTC), None),
        (None, datetime(2026, 11, 30, 14, tzinfo=UTC), None),
    ],
)
def test_a_shift_edited_under_a_wake_says_when_the_wake_would_end_otherwise(
    end: datetime | None, until: datetime, said: str | None
) -> None:
    live = nothing_alive(
        groups=running(vit=1, desk=0),
        overrides={"vit": Override("up", until)},
        wake_ends={"vit": end} if end else {},
    )
    found = [why for why in decide(lab(), live).warnings if "wake" in why and "group vit" in why]
    if said is None:
        assert found == []
    else:
        (told,) = found
        assert said in told
        assert f"nightshift wake vit --stack lab --until {until:%Y-%m-%dT%H:%MZ}" in told


def test_a_site_that_stands_in_another_region_is_not_made_anew_in_this_one() -> None:
    away = LivePart("elsewhere/us-west-2/vit", "nightshift-lab-us-west-2-vit", "Roles")
    (said,) = problems(nothing_alive(parts=parts(away)))
    assert said.startswith("aws:region: given us-east-1, site lab stands in us-west-2; put it back")
    decide(
        lab(), nothing_alive(parts=parts(away, LivePart("role-vit", "nightshift-lab-us-east-1-vit", "Roles")))
    )

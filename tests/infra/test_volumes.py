"""Volumes: kept, encrypted, found again by their tags."""

from __future__ import annotations

from typing import Any

import pytest

from tests.infra.recorder import Recorded
from tests.infra.support.samples import declare, lab, nothing_alive, volume


def volumes(change: Any = lambda raw: None, *live: Any) -> dict[str, Recorded]:
    return {each.name: each for each in declare(lab(change), nothing_alive(volumes=live)).all("Volume")}


def test_a_volume_is_encrypted_in_the_sites_zone_and_stays_when_the_stack_goes() -> None:
    runs = volumes()["volumes-runs"]
    assert runs.inputs == {
        "availabilityZone": "us-east-1a",
        "size": 200,
        "type": "gp3",
        "iops": 3000,
        "throughput": 125,
        "encrypted": True,
        "tags": {
            "nightshift:site": "lab",
            "nightshift:part": "volume-runs",
            "nightshift:owner": "vision",
            "nightshift:volume": "runs",
            "nightshift:snapshots": "lab.nightly",
            "Name": "nightshift-lab-volume-runs",
        },
    }
    assert runs.request.retainOnDelete
    assert list(runs.request.ignoreChanges) == ["snapshotId"]


def test_only_volumes_with_a_policy_carry_the_tag_that_it_looks_for() -> None:
    recorder = declare()
    tagged = [
        each.name for each in recorder.recorded if "nightshift:snapshots" in (each.inputs.get("tags") or {})
    ]
    assert tagged == ["volumes-runs"]


def test_iops_and_throughput_are_always_sent_so_that_a_removed_one_falls_back() -> None:
    found = volumes()
    assert (found["volumes-imagenet"].inputs["iops"], found["volumes-imagenet"].inputs["throughput"]) == (
        4000,
        500,
    )


def test_io2_has_no_throughput_of_its_own() -> None:
    def io2(raw: dict[str, Any]) -> None:
        raw["nightshift:volumes"]["runs"].update(type="io2", iops=20000)

    runs = volumes(io2)["volumes-runs"].inputs
    assert (runs["type"], runs["iops"]) == ("io2", 20000)
    assert "throughput" not in runs


def test_a_live_volume_is_taken_over_and_its_snapshot_no_longer_matters() -> None:
    def from_snapshot(raw: dict[str, Any]) -> None:
        raw["nightshift:volumes"]["runs"]["from"] = "snap-0123456789abcdef0"

    live = volume("runs", 7)
    runs = volumes(from_snapshot, live)["volumes-runs"]
    assert runs.request.importId == live.volume.id
    assert "snapshotId" not in runs.inputs


def test_a_new_volume_starts_from_the_named_snapshot() -> None:
    def from_snapshot(raw: dict[str, Any]) -> None:
        raw["nightshift:volumes"]["runs"]["from"] = "snap-0123456789abcdef0"

    live = nothing_alive(snapshots={"snap-0123456789abcdef0": 100})
    runs = next(
        each for each in declare(lab(from_snapshot), live).all("Volume") if each.name == "volumes-runs"
    )
    assert runs.inputs["snapshotId"] == "snap-0123456789abcdef0"


def test_an_adopted_volume_is_taken_over_by_its_id() -> None:
    live = volume("", 9, site=None)

    def adopt(raw: dict[str, Any]) -> None:
        raw["nightshift:volumes"]["runs"]["adopt"] = live.volume.id

    assert volumes(adopt, live)["volumes-runs"].request.importId == live.volume.id


@pytest.mark.parametrize("nodes", [1, 3])
def test_a_pool_has_one_volume_for_each_node(nodes: int) -> None:
    def pool(raw: dict[str, Any]) -> None:
        raw["nightshift:volumes"]["scratch"] = {"size_gib": 50, "per": "node"}
        raw["nightshift:groups"]["vit"].update(
            nodes=nodes, volumes=["scratch"], tier=None, types=["g6.12xlarge"]
        )
        raw["nightshift:groups"]["desk"]["volumes"] = ["runs", "imagenet"]

    found = [each for name, each in volumes(pool).items() if "scratch" in name]
    assert [each.name for each in found] == [f"volumes-scratch.{index}" for index in range(nodes)]
    assert [each.inputs["tags"]["nightshift:index"] for each in found] == [str(i) for i in range(nodes)]
    assert {each.inputs["tags"]["nightshift:volume"] for each in found} == {"scratch"}


def test_a_pools_volume_and_a_volume_named_like_it_are_two_things() -> None:
    def both(raw: Any) -> None:
        raw["nightshift:volumes"]["scratch"] = {"size_gib": 100, "per": "node"}
        raw["nightshift:volumes"]["scratch-0"] = {"size_gib": 100}

    found = [each for each in declare(lab(both)).all("Volume") if "scratch" in each.name]
    assert {each.name for each in found} == {"volumes-scratch.0", "volumes-scratch-0"}
    assert len({each.inputs["tags"]["nightshift:part"] for each in found}) == 2

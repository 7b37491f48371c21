"""Four nodes that train together: the same story where the network, the pool and the group are larger."""

from __future__ import annotations

import pytest

from tests.engine.conftest import Deploy
from tests.engine.support.facts import check_all
from tests.engine.support.looking import counts, group, listed, starts, state_of_nodes, tags_of, volume_ids
from tests.engine.support.nodes import drained, draining_later, shift_begins
from tests.engine.support.site import Deployed

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("engine-cluster")]
NOW = "2026-12-05T12:00:00Z"
"""Saturday noon, in the middle of the one shift."""
REGULAR = {"up-2000": "2026-12-11T20:00Z", "down-0800": "2026-12-07T08:00Z"}


def test_a_cluster_from_its_first_up_to_its_return(deploy: Deploy) -> None:
    site = deploy("cluster")
    site.cloud.control("clock", {"now": NOW})
    blank = counts(site)
    site.up()
    check_all(site)
    site.stays_as_it_is("on a stack that stands")
    stands, ids = counts(site), volume_ids(site)

    _a_shift(site)
    _a_hold(site)
    _a_wake(site)
    _a_resume(site)

    with draining_later(site, "pretrain", 3) as seen:
        site.destroy()
    assert (len(seen["drained"]), seen["gone_before"]) == (4, False)
    kept = {kind: count - blank.get(kind, 0) for kind, count in counts(site).items()}
    assert {kind: count for kind, count in kept.items() if count} == {"Volumes": 4, "buckets": 1}
    site.up()
    assert volume_ids(site) == ids
    assert counts(site) == stands


def _a_shift(site: Deployed) -> None:
    nodes = shift_begins(site, "pretrain", 4)
    found = listed(site.client("ec2"), "describe_instances", "Reservations")
    running = [one for reservation in found for one in reservation["Instances"]]
    assert sorted(one["InstanceId"] for one in running) == sorted(nodes)
    for one in running:
        assert one["InstanceType"] == "p4d.24xlarge"
        assert one["Placement"]["GroupName"] == "nightshift-cluster.pretrain"
        assert one["MetadataOptions"]["HttpTokens"] == "required"
        assert "PublicIpAddress" not in one
        assert "nightshift:snapshots" not in tags_of(one)
    roots = [one["BlockDeviceMappings"][0]["Ebs"]["VolumeId"] for one in running]
    disks = site.client("ec2").describe_volumes(VolumeIds=roots)["Volumes"]
    assert [(disk["Encrypted"], disk["Size"]) for disk in disks] == [(True, 500)] * 4
    assert [disk for disk in disks if "nightshift:snapshots" in tags_of(disk)] == []
    site.stays_as_it_is("in the middle of a shift")
    assert state_of_nodes(site, "pretrain") == ["InService"] * 4


def _a_hold(site: Deployed) -> None:
    site.says(NOW, "hold", "pretrain", "--until", "2026-12-12T00:00Z", "--yes")
    held = {**REGULAR, "up-2000": "2026-12-18T20:00Z"}
    assert starts(site, "pretrain") == held
    assert state_of_nodes(site, "pretrain") == ["Terminating:Wait"] * 4
    drained(site, "pretrain")
    site.stays_as_it_is("under a hold")
    assert starts(site, "pretrain") == held


def _a_wake(site: Deployed) -> None:
    site.says(NOW, "wake", "pretrain", "--until", "2026-12-07T12:00Z", "--yes")
    woken = {
        "up-2000": "2026-12-11T20:00Z",
        "down-0800": "2026-12-14T08:00Z",
        "wake-end": "2026-12-07T12:00Z",
    }
    assert starts(site, "pretrain") == woken
    shift_begins(site, "pretrain", 4)
    site.stays_as_it_is("after a wake")
    assert starts(site, "pretrain") == woken


def _a_resume(site: Deployed) -> None:
    site.says(NOW, "resume", "pretrain", "--yes")
    assert starts(site, "pretrain") == REGULAR
    site.stays_as_it_is("after a resume")
    assert group(site, "pretrain")["DesiredCapacity"] == 4

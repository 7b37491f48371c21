"""Warnings: said for what is allowed and probably not meant, and for nothing else."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any

import pytest

from bootstrap.drain.budget import share
from nightshift.settings import Stack, from_config
from nightshift.settings.advice import JOB_SHARE, advice

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
Json = Any
BASE: dict[str, Json] = {
    "aws:region": "us-east-1",
    "site": {
        "zone": "us-east-1a",
        "owner": "vision",
        "image": "ami-0f1e2d3c4b5a69788",
        "alerts": ["lab@example.org"],
    },
    "volumes": {"runs": {"size_gib": 200, "snapshots": "nightly"}},
    "snapshots": {"nightly": {"at_utc": "19:00", "keep": 7}},
    "groups": {
        "a": {
            "types": ["g5.2xlarge"],
            "volumes": ["runs"],
            "shifts": [{"days": ["mon"], "from": "09:00", "to": "18:00"}],
        }
    },
}


def stack(**changes: Json) -> Stack:
    """The base with topics of `changes` laid over its own, one level deep."""
    raw = copy.deepcopy(BASE)
    for topic, change in changes.items():
        raw[topic] = {**raw[topic], **change}
    return from_config(raw, "lab", now=NOW)


def test_a_plain_stack_gets_none() -> None:
    assert advice(stack(), NOW) == ()


def test_nobody_to_tell_is_said() -> None:
    silent = {key: value for key, value in BASE["site"].items() if key != "alerts"}
    lines = advice(from_config({**BASE, "site": silent}, "lab", now=NOW), NOW)
    assert [line.partition(":")[0] for line in lines] == ["site.alerts"]


def test_a_policy_that_no_volume_names_takes_no_snapshot() -> None:
    lines = advice(stack(snapshots={"weekly": {"at_utc": "19:00", "keep": 2}}), NOW)
    assert lines == ("snapshots.weekly: takes no snapshot, since no volume names it",)


def test_a_volume_that_no_group_mounts_is_said() -> None:
    lines = advice(stack(volumes={"old": {"size_gib": 10}}), NOW)
    assert lines == ("volumes.old: no group mounts it; it costs the same",)


def test_a_snapshot_inside_a_shift_is_said_with_its_first_time() -> None:
    lines = advice(stack(snapshots={"nightly": {"at_utc": "12:00", "keep": 7}}), NOW)
    assert len(lines) == 1
    assert lines[0].startswith(
        "snapshots.nightly: may start while a writes to runs, first Mon 2026-12-07 12:00 UTC"
    )


def test_the_hour_within_which_a_snapshot_may_start_counts() -> None:
    before = advice(stack(snapshots={"nightly": {"at_utc": "08:00", "keep": 7}}), NOW)
    within = advice(stack(snapshots={"nightly": {"at_utc": "08:01", "keep": 7}}), NOW)
    after = advice(stack(snapshots={"nightly": {"at_utc": "18:00", "keep": 7}}), NOW)
    assert (len(before), len(within), len(after)) == (0, 1, 0)


def test_every_start_of_the_day_counts() -> None:
    lines = advice(stack(snapshots={"nightly": {"at_utc": "01:00", "every_hours": 12, "keep": 7}}), NOW)
    assert "first Mon 2026-12-07 13:00 UTC" in lines[0]


def test_releasing_people_is_said() -> None:
    group = BASE["groups"]["a"] | {"idle": {"below_percent": 10, "for": "1h", "then": "release"}}
    assert [line.partition(":")[0] for line in advice(stack(groups={"a": group}), NOW)] == [
        "groups.a.idle.then"
    ]


def test_types_that_a_tier_leaves_out_are_said() -> None:
    group = {"tier": "medium", "nodes": 2, "shifts": BASE["groups"]["a"]["shifts"]}
    lines = advice(stack(groups={"b": group}), NOW)
    assert any(line.startswith("groups.b: 2 nodes work together on one type") for line in lines)


def test_several_network_cards_in_a_given_network_or_with_ssh_are_said() -> None:
    fabric = {
        "types": ["p4d.24xlarge"],
        "nodes": 2,
        "efa": True,
        "shifts": BASE["groups"]["a"]["shifts"],
    }
    given = {"network": {"vpc": "vpc-0abc0000000000001", "subnet": "subnet-0abc0000000000001"}}
    ssh = {"ssh": {"from": ["203.0.113.0/24"], "key": "lab"}}
    lines = advice(stack(site={**given, **ssh}, groups={"b": fabric}), NOW)
    assert [line.partition(":")[0] for line in lines] == ["site.network.subnet", "site.ssh"]


@pytest.mark.parametrize("image", ["ami-0abc0000000000003", "ami-0abc0000000220401"])
def test_an_image_that_only_stands_in_is_said(image: str) -> None:
    lines = advice(stack(site={"image": image}), NOW)
    assert lines == (f"site.image: {image} stands in for a real AMI; `nightshift pin` proposes one",)


def test_a_zone_with_a_letter_that_no_region_is_known_to_have_is_said() -> None:
    assert advice(stack(site={"zone": "us-east-1f"}), NOW) == ()
    lines = advice(stack(site={"zone": "us-east-1z"}), NOW)
    assert lines == (
        "site.zone: us-east-1z is an unusual zone; `nightshift doctor` says whether it is there",
    )


def test_a_drain_shorter_than_a_spot_notice_is_said_of_a_group_with_a_job() -> None:
    job = {"repo": "https://example.org/x.git", "ref": "v1", "run": "train.py"}
    group = {**BASE["groups"]["a"], "drain": "1m"}
    (line,) = advice(stack(groups={"a": {**group, "job": job}}), NOW)
    assert line == (
        f"groups.a.drain: 1m leaves the job {share(60).job_s:.0f} s to save, less than a spot notice of "
        "120 s does; name 2m or more, 10m if absent"
    )
    assert advice(stack(groups={"a": {**group, "job": job, "drain": "2m"}}), NOW) == ()
    assert advice(stack(groups={"a": group}), NOW) == ()


def test_the_job_has_that_share_of_a_short_drain() -> None:
    assert share(60).job_s == 60 * JOB_SHARE
    assert share(120).job_s == 120 * JOB_SHARE
    assert share(600).job_s == 600 - 150, "as the field's description says"

"""The tour must be able to say no: each check is shown something wrong."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from nightshift.rehearsal import tour_groups
from nightshift.rehearsal.deploy import DeployReport
from nightshift.rehearsal.finding import TourFinding
from nightshift.rehearsal.left import Left
from nightshift.rehearsal.tour import _inbound, _volumes
from nightshift.settings import Stack, read_stack

ROOT = Path(__file__).parents[2]


@pytest.fixture(name="stack", scope="module")
def _stack() -> Stack:
    return read_stack(ROOT / "stacks" / "Pulumi.rehearsal.yaml")


class _Canned:
    """A client whose list calls give one page."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers

    def can_paginate(self, operation: str) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        return lambda **_: self._answers[name]


def _action(**changes: Any) -> dict[str, Any]:
    sound = {
        "ScheduledActionName": "up-2000",
        "Recurrence": "0 20 * * MON,WED,FRI",
        "TimeZone": "America/New_York",
        "DesiredCapacity": 1,
    }
    return {key: value for key, value in {**sound, **changes}.items() if value is not None}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        ({"TimeZone": None}, "zone is None"),
        ({"TimeZone": "Etc/UTC"}, "zone is Etc/UTC"),
        ({"MinSize": 0}, "moves the bounds"),
        ({"MaxSize": 0}, "moves the bounds"),
        ({"DesiredCapacity": None}, "desired is None"),
        ({"DesiredCapacity": 2}, "desired is 2"),
        ({"Recurrence": "30 20 * * MON"}, "fires at 20:30"),
    ],
)
def test_an_action_moves_desired_alone_at_the_files_time(
    stack: Stack, changes: dict[str, Any], said: str
) -> None:
    client = _Canned(
        describe_scheduled_actions={"ScheduledUpdateGroupActions": [_action(), _action(**changes)]}
    )
    found = tour_groups._schedules(
        "train", stack.groups["train"], stack.site.timezone, client, {"AutoScalingGroupName": "x"}
    )
    assert (found.ok, said in found.says) == (not said, True)


def test_a_group_that_no_action_brings_up_is_bad(stack: Stack) -> None:
    down = _action(DesiredCapacity=0, Recurrence="0 7 * * TUE")
    client = _Canned(describe_scheduled_actions={"ScheduledUpdateGroupActions": [down]})
    found = tour_groups._schedules(
        "train", stack.groups["train"], stack.site.timezone, client, {"AutoScalingGroupName": "x"}
    )
    assert (found.ok, found.says) == (False, "no action brings it up")


@pytest.mark.parametrize(
    ("hooks", "ok"),
    [
        ([("LAUNCHING", "ABANDON", 1200), ("TERMINATING", "CONTINUE", 120)], True),
        ([("LAUNCHING", "CONTINUE", 1200), ("TERMINATING", "CONTINUE", 120)], False),
        ([("LAUNCHING", "ABANDON", 1200)], False),
        ([("LAUNCHING", "ABANDON", 1200), ("TERMINATING", "CONTINUE", 999_999)], False),
        ([], False),
    ],
)
def test_hooks_keep_unproven_nodes_out(hooks: list[tuple[str, str, int]], ok: bool) -> None:
    answer = [
        {
            "LifecycleTransition": f"autoscaling:EC2_INSTANCE_{transition}",
            "DefaultResult": result,
            "HeartbeatTimeout": seconds,
            "LifecycleHookName": transition.lower(),
        }
        for transition, result, seconds in hooks
    ]
    client = _Canned(describe_lifecycle_hooks={"LifecycleHooks": answer})
    assert tour_groups._hooks("train", client, {"AutoScalingGroupName": "x"}).ok is ok


@pytest.mark.parametrize(
    ("types", "ok"),
    [
        (["g6.2xlarge", "g5.2xlarge", "g6.4xlarge", "g5.4xlarge"], True),
        (["g6.2xlarge", "g5.4xlarge"], True),
        (["g5.2xlarge", "g6.2xlarge"], False),
        (["g6.2xlarge", "p5.48xlarge"], False),
        ([], False),
    ],
)
def test_types_keep_the_files_order(stack: Stack, types: list[str], ok: bool) -> None:
    raw = {
        "MixedInstancesPolicy": {"LaunchTemplate": {"Overrides": [{"InstanceType": one} for one in types]}}
    }
    assert tour_groups._types("train", stack.groups["train"], raw).ok is ok


@pytest.mark.parametrize(("tokens", "ok"), [("required", True), ("optional", False), (None, False)])
def test_metadata_needs_a_token(tokens: str | None, ok: bool) -> None:
    assert tour_groups._imds("train", {"MetadataOptions": {"HttpTokens": tokens}}).ok is ok


def test_root_disks_are_encrypted_and_user_data_fits() -> None:
    plain = {"BlockDeviceMappings": [{"Ebs": {"VolumeSize": 150}}]}
    sealed = {"BlockDeviceMappings": [{"Ebs": {"VolumeSize": 150, "Encrypted": True}}]}
    assert [tour_groups._disks("train", one).ok for one in (sealed, plain, {})] == [True, False, False]
    sizes = [base64.b64encode(b"x" * count).decode() for count in (16_384, 16_385, 0)]
    assert [tour_groups._user_data("train", {"UserData": one}).ok for one in sizes] == [True, False, False]


@pytest.mark.parametrize(
    ("rule", "ok"),
    [
        (None, True),
        ({"UserIdGroupPairs": [{"GroupId": "sg-1"}]}, True),
        ({"IpRanges": [{"CidrIp": "0.0.0.0/0"}]}, False),
        ({"Ipv6Ranges": [{"CidrIpv6": "::/0"}]}, False),
        ({"IpRanges": [{"CidrIp": "10.0.0.0/8"}]}, False),
        ({"PrefixListIds": [{"PrefixListId": "pl-1"}]}, False),
    ],
)
def test_nothing_from_outside_may_come_in(stack: Stack, rule: dict[str, Any] | None, ok: bool) -> None:
    fences = [{"GroupId": "sg-1", "IpPermissions": [rule] if rule else []}]
    assert _inbound(stack, _Canned(describe_security_groups={"SecurityGroups": fences})).ok is ok
    assert not _inbound(stack, _Canned(describe_security_groups={"SecurityGroups": []})).ok


def _disk(name: str, size: int, **changes: Any) -> dict[str, Any]:
    tags = [{"Key": "nightshift:volume", "Value": name}]
    return {
        "VolumeId": f"vol-{name}",
        "Encrypted": True,
        "AvailabilityZone": "us-east-1a",
        "Size": size,
        "Tags": tags,
        **changes,
    }


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "2, encrypted"),
        ({"Encrypted": False}, "isn't encrypted"),
        ({"AvailabilityZone": "us-east-1b"}, "is in us-east-1b"),
        ({"Size": 99}, "99 GiB, expected 100"),
    ],
)
def test_volumes_are_the_files(stack: Stack, changes: dict[str, Any], said: str) -> None:
    found = _volumes(
        stack, _Canned(describe_volumes={"Volumes": [_disk("data", 100, **changes), _disk("runs", 50)]})
    )
    assert (found.ok, said in found.says) == (not changes, True)


def test_a_volume_too_many_or_too_few_is_bad(stack: Stack) -> None:
    for disks in ([_disk("data", 100)], [_disk("data", 100), _disk("runs", 50), _disk("runs", 50)]):
        assert not _volumes(stack, _Canned(describe_volumes={"Volumes": disks})).ok


def test_a_report_says_no_for_every_reason() -> None:
    sound = DeployReport("s", changed_second_up=0, changed_refresh=0, left=[Left("volume", "vol-1", True)])
    assert sound.problems == []
    assert DeployReport("s", failed="up failed").problems == ["up failed"]
    assert DeployReport("s", changes=["refresh: update x"]).problems == ["refresh: update x"]
    assert DeployReport("s", tour=[TourFinding(False, "IMDSv2", "optional")]).problems == ["IMDSv2: optional"]
    left = DeployReport("s", left=[Left("vpc", "vpc-1", False)])
    assert left.problems == ["left after destroy: vpc vpc-1"]
    assert left.data()["left_after_destroy"] == ["vpc vpc-1"]

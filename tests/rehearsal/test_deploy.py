"""The deploy rehearsal with the real engine, and a tour of a site that somebody spoiled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nightshift.cli.context import Context
from nightshift.cli.main import run
from nightshift.rehearsal import front_door
from nightshift.rehearsal.clients import clients_of
from nightshift.rehearsal.left import left_after
from nightshift.rehearsal.tour import tour
from nightshift.settings import read_stack

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("rehearsal")]
ROOT = Path(__file__).parents[2]
KEYS = {
    "created",
    "changed_second_up",
    "changed_refresh",
    "seconds",
    "left_after_destroy",
    "provider",
    "provider_version",
    "tour",
}
STEPS = ["engine", "cloud", "up", "tour", "second_up", "refresh", "destroy", "total"]


def test_the_lab_deploys_changes_nothing_twice_and_leaves_only_what_is_kept(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told: list[str] = []
    context = Context(cwd=ROOT, env={"HOME": "/nonexistent"}, say=told.append)
    code = run(["rehearse", "--stack", "lab", "--only", "deploy", "--json"], context)
    report = json.loads(capsys.readouterr().out)
    assert (code, report["problems"]) == (0, [])
    assert set(report) >= KEYS
    assert report["created"] > 50
    assert (report["changed_second_up"], report["changed_refresh"]) == (0, 0)
    assert all(one["ok"] for one in report["tour"])
    kinds = sorted(one.split()[0] for one in report["left_after_destroy"])
    assert kinds == ["bucket", "volume", "volume"]
    assert sorted(report["seconds"]) == sorted(STEPS)
    assert any(line.startswith("second up:") for line in told)


def test_a_tour_of_a_spoiled_site_finds_every_broken_promise_and_the_front_door_says_no(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spoiled: list[str] = []
    look = front_door._look

    def look_and_spoil(*args: Any) -> None:
        look(*args)
        spoiled.extend(_spoil_and_tour(args[3]))

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(front_door, "_look", look_and_spoil)
    assert front_door.main(["--stack", "rehearsal"]) == 1
    told = capsys.readouterr().out
    assert spoiled == EXPECTED
    assert "problem  " in told
    assert max(map(len, told.splitlines())) <= 80


EXPECTED = [
    "data bucket",
    "group train: IMDSv2",
    "group train: hooks",
    "group train: schedules",
    "group train: sizes",
    "inbound rules",
    "left: everything",
    "roles",
    "snapshot tag",
]
GROUP = "nightshift-rehearsal.train"


def _spoil_and_tour(endpoint: str) -> list[str]:
    """Break one promise of each kind by boto3; returns what the tour finds bad, sorted."""
    stack = read_stack(ROOT / "stacks" / "Pulumi.rehearsal.yaml")
    clients = clients_of(endpoint, stack.region)
    assert [one for one in tour(stack, clients) if not one.ok] == []
    standing = left_after(stack, clients)
    _spoil(clients)
    bad = [one.what for one in tour(stack, clients) if not one.ok]
    kinds = {one.kind for one in standing if not one.kept}
    everything = {
        "vpc",
        "subnet",
        "group",
        "role",
        "bucket",
        "alarm",
        "log group",
        "snapshot policy",
    } <= kinds
    return sorted([*bad, *(["left: everything"] if everything else [f"left: {sorted(kinds)}"])])


def _spoil(clients: Any) -> None:
    ec2, scaling = clients("ec2"), clients("autoscaling")
    mine = [{"Name": "tag:nightshift:site", "Values": ["rehearsal"]}]
    fence = ec2.describe_security_groups(Filters=mine)["SecurityGroups"][0]["GroupId"]
    ec2.authorize_security_group_ingress(
        GroupId=fence,
        IpPermissions=[
            {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
        ],
    )
    vpc = ec2.describe_vpcs(Filters=mine)["Vpcs"][0]["VpcId"]
    ec2.create_tags(Resources=[vpc], Tags=[{"Key": "nightshift:snapshots", "Value": "rehearsal.nightly"}])
    _loosen_template(ec2, scaling)
    scaling.delete_lifecycle_hook(AutoScalingGroupName=GROUP, LifecycleHookName="drain")
    scaling.put_scheduled_update_group_action(
        AutoScalingGroupName=GROUP,
        ScheduledActionName="late",
        Recurrence="13 3 * * MON",
        TimeZone="Etc/UTC",
        DesiredCapacity=1,
        MaxSize=1,
    )
    scaling.update_auto_scaling_group(AutoScalingGroupName=GROUP, MaxSize=2)
    role = next(
        one["RoleName"]
        for one in clients("iam").list_roles()["Roles"]
        if one["RoleName"].startswith("nightshift-rehearsal-")
    )
    clients("iam").attach_role_policy(RoleName=role, PolicyArn="arn:aws:iam::aws:policy/AdministratorAccess")
    bucket = next(
        one["Name"] for one in clients("s3").list_buckets()["Buckets"] if "rehearsal-data" in one["Name"]
    )
    clients("s3").delete_public_access_block(Bucket=bucket)


def _loosen_template(ec2: Any, scaling: Any) -> None:
    """A version without IMDSv2, which the group then uses."""
    group = scaling.describe_auto_scaling_groups(AutoScalingGroupNames=[GROUP])["AutoScalingGroups"][0]
    chosen = group["MixedInstancesPolicy"]["LaunchTemplate"]["LaunchTemplateSpecification"]
    made = ec2.create_launch_template_version(
        LaunchTemplateId=chosen["LaunchTemplateId"],
        SourceVersion=chosen["Version"],
        LaunchTemplateData={"MetadataOptions": {"HttpTokens": "optional"}},
    )
    version = str(made["LaunchTemplateVersion"]["VersionNumber"])
    scaling.update_auto_scaling_group(
        AutoScalingGroupName=GROUP,
        MixedInstancesPolicy={
            "LaunchTemplate": {
                "LaunchTemplateSpecification": {
                    "LaunchTemplateId": chosen["LaunchTemplateId"],
                    "Version": version,
                },
                "Overrides": group["MixedInstancesPolicy"]["LaunchTemplate"]["Overrides"],
            }
        },
    )

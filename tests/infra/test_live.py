"""What is read of a live site, from an emulated AWS inside this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from infra.clients import CannotReadAws
from infra.live import LiveSite, read_live
from infra.live_ec2 import LivePart, LiveRule
from nightshift.plan import names
from nightshift.plan.calendar import Override
from nightshift.plan.changes import RunningGroup
from nightshift.plan.shifts import Action
from tests.infra.recorder import ACCOUNT, REGION
from tests.infra.support.samples import lab


class Dlm:
    """The emulation knows no DLM."""

    def __init__(self, *policies: dict[str, Any]) -> None:
        self._policies = policies

    def get_lifecycle_policies(self) -> dict[str, Any]:
        return {"Policies": list(self._policies)}


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    with mock_aws():
        yield


def clients(*policies: dict[str, Any]) -> Callable[[str], Any]:
    """Real clients on the emulation, which knows neither DLM nor placement groups."""

    def make(service: str) -> Any:
        if service == "dlm":
            return Dlm(*policies)
        client: Any = boto3.client(service, region_name=REGION)  # ty: ignore[no-matching-overload]
        if service == "ec2":
            client.describe_placement_groups = lambda **_: {"PlacementGroups": []}
        return client

    return make


def tagged(part: str, site: str = "lab", **more: str) -> list[dict[str, str]]:
    named = {"nightshift:site": site, "nightshift:part": part, **more}
    return [{"Key": key, "Value": value} for key, value in named.items()]


def spec(kind: str, part: str, **more: Any) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": tagged(part, **more)}]


def read(
    change: Callable[[dict[str, Any]], object] = lambda raw: None, *policies: dict[str, Any]
) -> LiveSite:
    return read_live(lab(change), clients(*policies))


def test_nothing_alive_reads_as_nothing() -> None:
    live = read()
    assert (live.account, live.partition) == (ACCOUNT, "aws")
    assert abs((live.now - datetime.now(UTC)).total_seconds()) < 3600
    assert live == LiveSite(ACCOUNT, "aws", live.now)


def test_parts_are_found_by_tag_and_other_sites_are_not() -> None:
    ec2: Any = boto3.client("ec2", REGION)
    vpc = ec2.create_vpc(CidrBlock="10.77.0.0/16", TagSpecifications=spec("vpc", "vpc"))["Vpc"]["VpcId"]
    ec2.create_vpc(CidrBlock="10.78.0.0/16", TagSpecifications=spec("vpc", "vpc", site="other"))
    subnet = ec2.create_subnet(
        VpcId=vpc,
        CidrBlock="10.77.0.0/17",
        AvailabilityZone="us-east-1a",
        TagSpecifications=spec("subnet", "subnet-public"),
    )["Subnet"]["SubnetId"]
    fence = ec2.create_security_group(
        GroupName="fence",
        Description="fence",
        VpcId=vpc,
        TagSpecifications=spec("security-group", "security-nodes"),
    )["GroupId"]
    live = read()
    assert live.parts == {
        "vpc": LivePart("vpc", vpc, "Vpcs", vpc=vpc, cidr="10.77.0.0/16"),
        "subnet-public": LivePart("subnet-public", subnet, "Subnets", vpc, "us-east-1a", "10.77.0.0/17"),
        "security-nodes": LivePart("security-nodes", fence, "SecurityGroups", vpc=vpc),
    }
    assert [(rule.security_group, rule.egress, rule.protocol, rule.peer) for rule in live.rules] == [
        (fence, True, "-1", "0.0.0.0/0")
    ]
    assert isinstance(live.rules[0], LiveRule)


def test_a_deleted_nat_gateway_is_not_alive_though_it_is_still_listed() -> None:
    ec2: Any = boto3.client("ec2", REGION)
    vpc = ec2.create_vpc(CidrBlock="10.77.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.77.0.0/17")["Subnet"]["SubnetId"]
    nat = ec2.create_nat_gateway(
        SubnetId=subnet,
        AllocationId=ec2.allocate_address(Domain="vpc")["AllocationId"],
        TagSpecifications=spec("natgateway", "nat"),
    )["NatGateway"]["NatGatewayId"]
    assert read().import_id("nat") == nat
    ec2.delete_nat_gateway(NatGatewayId=nat)
    assert read().import_id("nat") is None


def test_two_live_resources_of_one_part_are_a_problem_with_both_ids() -> None:
    ec2: Any = boto3.client("ec2", REGION)
    made = [
        ec2.create_vpc(CidrBlock=cidr, TagSpecifications=spec("vpc", "vpc"))["Vpc"]["VpcId"]
        for cidr in ("10.77.0.0/16", "10.78.0.0/16")
    ]
    (said,) = read().problems
    assert said.startswith('part "vpc": 2 live resources carry its tag')
    assert all(each in said for each in made)


def make_volume(**more: Any) -> str:
    ec2: Any = boto3.client("ec2", REGION)
    return str(ec2.create_volume(AvailabilityZone="us-east-1a", Size=20, **more)["VolumeId"])


def test_volumes_are_found_by_name_and_index_or_because_the_file_adopts_them() -> None:
    named = {"nightshift:volume": "runs", "nightshift:index": "2"}
    mine = make_volume(Encrypted=True, TagSpecifications=spec("volume", "volume-runs-2", **named))
    make_volume(TagSpecifications=spec("volume", "root"))
    adopted = make_volume()

    def adopt(raw: dict[str, Any]) -> None:
        raw["nightshift:volumes"]["imagenet"]["adopt"] = adopted

    found = {each.volume.id: each for each in read(adopt).volumes}
    assert set(found) == {mine, adopted}, "a root disk carries the site's tag and no volume's name"
    assert (found[mine].volume.name, found[mine].volume.index, found[mine].encrypted) == ("runs", 2, True)
    assert (found[adopted].volume.name, found[adopted].volume.site, found[adopted].encrypted) == (
        "",
        None,
        False,
    )


def test_the_size_of_a_named_snapshot_is_read() -> None:
    ec2: Any = boto3.client("ec2", REGION)
    snapshot = str(ec2.create_snapshot(VolumeId=make_volume())["SnapshotId"])

    def start(raw: dict[str, Any]) -> None:
        raw["nightshift:volumes"]["runs"]["from"] = snapshot

    assert read(start).snapshots == {snapshot: 20}


def make_group() -> None:
    ec2: Any = boto3.client("ec2", REGION)
    autoscaling: Any = boto3.client("autoscaling", REGION)
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    ec2.create_launch_template(
        LaunchTemplateName="nightshift-lab.vit",
        LaunchTemplateData={"ImageId": image, "InstanceType": "g6.xlarge"},
    )
    autoscaling.create_auto_scaling_group(
        AutoScalingGroupName="nightshift-lab.vit",
        LaunchTemplate={"LaunchTemplateName": "nightshift-lab.vit", "Version": "1"},
        MinSize=0,
        MaxSize=3,
        DesiredCapacity=2,
        AvailabilityZones=["us-east-1a"],
        Tags=[
            {"Key": key, "Value": value, "PropagateAtLaunch": True}
            for key, value in names.node_tags("lab", "vit", "vision").items()
        ],
    )


def test_groups_are_read_with_their_nodes_and_regular_actions() -> None:
    make_group()
    autoscaling: Any = boto3.client("autoscaling", REGION)
    autoscaling.put_scheduled_update_group_action(
        AutoScalingGroupName="nightshift-lab.vit",
        ScheduledActionName="up-2000",
        Recurrence="0 20 * * MON",
        TimeZone="Asia/Shanghai",
        DesiredCapacity=2,
    )
    autoscaling.put_scheduled_update_group_action(
        AutoScalingGroupName="nightshift-lab.vit",
        ScheduledActionName="wake-end",
        StartTime=datetime(2099, 1, 1, tzinfo=UTC),
        DesiredCapacity=0,
    )
    live = read()
    assert live.groups == {"vit": RunningGroup(running=2, desired=2)}
    assert live.import_id("group-vit") == "nightshift-lab.vit"
    assert live.actions == {"vit": (Action("up-2000", "0 20 * * MON", "Asia/Shanghai", 2),)}
    assert live.wake_ends == {"vit": datetime(2099, 1, 1, tzinfo=UTC)}


def test_what_has_a_name_of_its_own_is_found_by_it() -> None:
    role = names.role_name("lab", REGION, "vit")
    iam: Any = boto3.client("iam")
    iam.create_role(RoleName=role, AssumeRolePolicyDocument="{}")
    iam.create_instance_profile(InstanceProfileName=role)
    boto3.client("logs", REGION).create_log_group(logGroupName="/nightshift/lab")
    boto3.client("logs", REGION).create_log_group(logGroupName="/nightshift/lab-two")
    topic = boto3.client("sns", REGION).create_topic(Name="nightshift-lab")["TopicArn"]
    bucket = names.bucket_name("lab", "data", ACCOUNT, REGION)
    boto3.client("s3", REGION).create_bucket(Bucket=bucket)
    budgets: Any = boto3.client("budgets", REGION)
    budgets.create_budget(
        AccountId=ACCOUNT,
        Budget={
            "BudgetName": names.budget_name("lab", REGION),
            "BudgetLimit": {"Amount": "600", "Unit": "USD"},
            "TimeUnit": "MONTHLY",
            "BudgetType": "COST",
        },
    )
    policy = {"PolicyId": "policy-1", "Tags": {"nightshift:site": "lab", "nightshift:part": "dlm-nightly"}}
    foreign = {"PolicyId": "policy-2", "Tags": {"nightshift:site": "two", "nightshift:part": "dlm-nightly"}}
    live = read(lambda raw: None, policy, foreign)
    assert {part: live.import_id(part) for part in live.parts} == {
        "role-vit": role,
        "profile-vit": role,
        "log-group": "/nightshift/lab",
        "topic": topic,
        "bucket-data": bucket,
        "budget": f"{ACCOUNT}:{names.budget_name('lab', REGION)}",
        "dlm-nightly": "policy-1",
    }


def test_overrides_come_from_the_data_bucket_and_a_damaged_one_is_a_problem() -> None:
    s3: Any = boto3.client("s3", REGION)
    bucket = names.bucket_name("lab", "data", ACCOUNT, REGION)
    s3.create_bucket(Bucket=bucket)
    record = {
        "version": 1,
        "state": "down",
        "until": "2026-12-07T11:00:00Z",
        "by": "ada",
        "at": "2026-11-30T11:00:00Z",
    }
    s3.put_object(Bucket=bucket, Key="overrides/vit.json", Body=json.dumps(record))
    s3.put_object(Bucket=bucket, Key="overrides/desk.json", Body="{")
    live = read()
    assert live.overrides == {"vit": Override("down", datetime(2026, 12, 7, 11, tzinfo=UTC))}
    (said,) = live.problems
    assert "overrides/desk.json" in said


class Refusing:
    """A client that answers every call with one error."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        def refuse(**_: Any) -> None:
            raise self._error

        return (lambda _: False) if name == "can_paginate" else refuse


def test_a_refused_read_stops_with_what_aws_said_and_what_to_do() -> None:
    error = ClientError(
        {"Error": {"Code": "UnauthorizedOperation", "Message": "You may not."}}, "DescribeVpcs"
    )
    with pytest.raises(CannotReadAws) as caught:
        read_live(lab(), lambda service: Refusing(error))
    assert str(caught.value).startswith("AWS refused DescribeVpcs: UnauthorizedOperation: You may not.")
    assert "nothing was changed" in str(caught.value)


def test_a_role_of_the_site_in_another_region_is_seen() -> None:
    role = names.role_name("lab", "us-west-2", "vit")
    boto3.client("iam").create_role(RoleName=role, AssumeRolePolicyDocument="{}")
    assert read().import_id("elsewhere/us-west-2/vit") == role

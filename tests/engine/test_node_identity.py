"""What a node may do with its own credentials, and what it is refused, judged by the deployed role."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.engine.conftest import Deploy
from tests.engine.support.looking import state_of_nodes, volume_ids
from tests.engine.support.nodes import complete, credentials, shift_begins
from tests.engine.support.site import Deployed

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("engine-identity")]
REFUSALS = {"UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "403"}
GROUP, DESK = "nightshift-lab.vit", "nightshift-lab.desk"
Call = Callable[[], object]


@dataclass(frozen=True)
class Node:
    """A running node of `vit`, one of `desk`, and what they know."""

    site: Deployed
    id: str
    other: str
    credentials: Mapping[str, str]
    bucket: str
    volumes: Mapping[str, str]

    def client(self, service: str) -> Any:
        """As the node of `vit`."""
        return self.site.client(service, self.credentials)

    @property
    def user(self) -> str:
        """Its aws:userid."""
        return str(self.client("sts").get_caller_identity()["UserId"])


@pytest.fixture(scope="module")
def node(deploy: Deploy) -> Node:
    site = deploy("lab")
    site.up()
    (bucket,) = [
        one["Name"] for one in site.client("s3").list_buckets()["Buckets"] if "-data-" in one["Name"]
    ]
    ((vit,), (desk,)) = shift_begins(site, "vit"), shift_begins(site, "desk")
    return Node(site, vit, desk, credentials(site, vit), bucket, volume_ids(site))


def refused(call: Call) -> bool:
    """Whether AWS denies the call; any other error is raised."""
    try:
        call()
    except ClientError as error:
        if error.response["Error"]["Code"] in REFUSALS:
            return True
        raise
    return False


def foreign_volume(operator: Deployed, **tags: str) -> str:
    """A volume that somebody else made in the same zone."""
    made = operator.client("ec2").create_volume(
        AvailabilityZone="us-east-1a",
        Size=1,
        VolumeType="gp3",
        TagSpecifications=[
            {
                "ResourceType": "volume",
                "Tags": [{"Key": f"nightshift:{key}", "Value": value} for key, value in tags.items()],
            }
        ],
    )
    return str(made["VolumeId"])


def test_it_attaches_its_own_volumes_and_no_others(node: Node) -> None:
    ec2 = node.client("ec2")
    for device, name in (("/dev/sdf", "imagenet"), ("/dev/sdg", "runs")):
        ec2.attach_volume(VolumeId=node.volumes[name], InstanceId=node.id, Device=device)
    elsewhere = foreign_volume(node.site, site="other", volume="runs")
    unnamed = foreign_volume(node.site, site="lab", volume="secret")
    untagged = foreign_volume(node.site, owner="somebody")
    for volume in (elsewhere, unnamed, untagged):
        assert refused(
            lambda volume=volume: ec2.attach_volume(VolumeId=volume, InstanceId=node.id, Device="/dev/sdh")
        ), volume
    ec2.detach_volume(VolumeId=node.volumes["imagenet"], InstanceId=node.id)
    desk = node.site.client("ec2", credentials(node.site, node.other))
    assert refused(
        lambda: desk.attach_volume(
            VolumeId=node.volumes["imagenet"], InstanceId=node.other, Device="/dev/sdf"
        )
    )
    assert refused(lambda: desk.detach_volume(VolumeId=node.volumes["runs"], InstanceId=node.id))
    assert refused(
        lambda: ec2.attach_volume(VolumeId=node.volumes["imagenet"], InstanceId=node.other, Device="/dev/sdf")
    )
    operator = node.site.client("ec2")
    for volume in (elsewhere, unnamed, untagged):
        operator.delete_volume(VolumeId=volume)


def test_it_tags_itself_and_never_a_volume(node: Node) -> None:
    ec2 = node.client("ec2")
    ready = [{"Key": "nightshift:readiness", "Value": "ready"}]
    ec2.create_tags(Resources=[node.id], Tags=ready)
    volume = node.volumes["runs"]
    for tags in (ready, [{"Key": "nightshift:site", "Value": "lab"}]):
        assert refused(lambda tags=tags: ec2.create_tags(Resources=[volume], Tags=tags))
    assert refused(lambda: ec2.delete_tags(Resources=[volume], Tags=[{"Key": "nightshift:snapshots"}]))
    assert refused(lambda: ec2.create_tags(Resources=[node.other], Tags=ready))
    assert refused(
        lambda: ec2.create_tags(Resources=[node.id], Tags=[{"Key": "nightshift:site", "Value": "x"}])
    )
    assert refused(lambda: ec2.delete_volume(VolumeId=volume))
    assert refused(lambda: ec2.modify_volume(VolumeId=volume, Size=1000))
    assert refused(lambda: ec2.create_snapshot(VolumeId=volume))


def test_it_writes_its_own_record_and_reads_no_other(node: Node) -> None:
    s3, operator = node.client("s3"), node.site.client("s3")
    role = node.user.partition(":")[0]
    assert node.user == f"{role}:{node.id}"
    own = {"Bucket": node.bucket, "Key": f"nodes/{node.user}/readiness.json"}
    s3.put_object(**own, Body=b"{}")
    assert s3.get_object(**own)["Body"].read() == b"{}"
    for key in (f"nodes/{role}:{node.other}/readiness.json", "nodes/readiness.json", "overrides/desk.json"):
        place = {"Bucket": node.bucket, "Key": key}
        operator.put_object(**place, Body=b"secret")
        assert refused(lambda place=place: s3.get_object(**place)), key
        assert refused(lambda place=place: s3.put_object(**place, Body=b"forged")), key
        assert operator.get_object(**place)["Body"].read() == b"secret"
        operator.delete_object(**place)


def test_it_keeps_its_groups_runs_and_reads_no_other_groups(node: Node) -> None:
    s3, operator = node.client("s3"), node.site.client("s3")
    own = {"Bucket": node.bucket, "Key": "runs/vit/latest.json"}
    s3.put_object(**own, Body=b"{}")
    assert s3.get_object(**own)["Body"].read() == b"{}"
    assert s3.list_objects_v2(Bucket=node.bucket, Prefix="runs/vit/")["KeyCount"] == 1
    theirs = {"Bucket": node.bucket, "Key": "runs/desk/latest.json"}
    operator.put_object(**theirs, Body=b"secret")
    assert refused(lambda: s3.get_object(**theirs))
    assert refused(lambda: s3.put_object(**theirs, Body=b"forged"))
    assert refused(lambda: s3.delete_object(**theirs))
    assert refused(lambda: s3.delete_object(**own))
    assert refused(lambda: s3.list_objects_v2(Bucket=node.bucket, Prefix="runs/desk/"))
    assert refused(lambda: s3.list_objects_v2(Bucket=node.bucket))
    override = {"Bucket": node.bucket, "Key": "overrides/vit.json"}
    operator.put_object(**override, Body=b"{}")
    assert s3.get_object(**override)["Body"].read() == b"{}"
    assert refused(lambda: s3.put_object(**override, Body=b"forged"))
    for place in (own, theirs, override):
        operator.delete_object(**place)


def test_it_reads_its_groups_boot_files_and_writes_none(node: Node) -> None:
    s3 = node.client("s3")
    bucket = next(
        one["Name"]
        for one in node.site.client("s3").list_buckets()["Buckets"]
        if "-artifacts-" in one["Name"]
    )
    assert s3.get_object(Bucket=bucket, Key="groups/vit/manifest.json")["Body"].read().startswith(b"{")
    assert refused(lambda: s3.get_object(Bucket=bucket, Key="groups/desk/manifest.json"))
    assert refused(lambda: s3.put_object(Bucket=bucket, Key="groups/vit/manifest.json", Body=b"{}"))


@pytest.mark.parametrize("group", [GROUP, DESK])
def test_it_updates_no_group(node: Node, group: str) -> None:
    scaling = node.client("autoscaling")
    named = {"AutoScalingGroupName": group}
    calls: dict[str, Call] = {
        "size": lambda: scaling.update_auto_scaling_group(**named, MaxSize=9),
        "desired": lambda: scaling.set_desired_capacity(**named, DesiredCapacity=1),
        "action": lambda: scaling.put_scheduled_update_group_action(
            **named, ScheduledActionName="up-2000", Recurrence="0 0 * * *", DesiredCapacity=1
        ),
        "no action": lambda: scaling.delete_scheduled_action(**named, ScheduledActionName="up-2000"),
        "hook": lambda: scaling.put_lifecycle_hook(
            **named, LifecycleHookName="ready", LifecycleTransition="autoscaling:EC2_INSTANCE_LAUNCHING"
        ),
        "end": lambda: scaling.delete_auto_scaling_group(**named, ForceDelete=True),
    }
    assert [what for what, call in calls.items() if not refused(call)] == []


def test_it_ends_no_node_of_another_group_nor_speaks_for_it(node: Node) -> None:
    scaling = node.client("autoscaling")
    assert refused(
        lambda: scaling.terminate_instance_in_auto_scaling_group(
            InstanceId=node.other, ShouldDecrementDesiredCapacity=True
        )
    )
    assert refused(
        lambda: scaling.complete_lifecycle_action(
            AutoScalingGroupName=DESK,
            LifecycleHookName="ready",
            InstanceId=node.other,
            LifecycleActionResult="ABANDON",
        )
    )
    assert refused(lambda: node.client("ec2").terminate_instances(InstanceIds=[node.other]))
    assert refused(lambda: node.client("iam").list_roles())


def test_it_writes_its_logs_and_metrics_and_no_others(node: Node) -> None:
    logs, watch = node.client("logs"), node.client("cloudwatch")
    group = "/nightshift/lab"
    now = int(datetime.now(UTC).timestamp() * 1000)
    own = {"logGroupName": group, "logStreamName": f"{GROUP}/{node.id}/boot"}
    logs.create_log_stream(**own)
    logs.put_log_events(**own, logEvents=[{"timestamp": now, "message": "ready"}])
    theirs = {"logGroupName": group, "logStreamName": f"{DESK}/{node.other}/boot"}
    assert refused(lambda: logs.create_log_stream(**theirs))
    assert refused(lambda: logs.delete_log_stream(**own))
    data = [{"MetricName": "BootFailed", "Value": 1.0}]
    watch.put_metric_data(Namespace="Nightshift", MetricData=data)
    assert refused(lambda: watch.put_metric_data(Namespace="AWS/EC2", MetricData=data))


def test_it_ends_itself_and_the_group_shrinks_with_it(node: Node) -> None:
    """On `desk`, whose node no other test needs alive after this one: it runs last in the file."""
    desk = node.site.client("autoscaling", credentials(node.site, node.other))
    desk.terminate_instance_in_auto_scaling_group(InstanceId=node.other, ShouldDecrementDesiredCapacity=True)
    assert state_of_nodes(node.site, "desk") == ["Terminating:Wait"]
    desk.record_lifecycle_action_heartbeat(
        AutoScalingGroupName=DESK, LifecycleHookName="drain", InstanceId=node.other
    )
    complete(node.site, "desk", node.other, "drain")
    assert state_of_nodes(node.site, "desk") == []

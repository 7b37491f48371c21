"""What a node may do on the emulated AWS with the credentials of its role."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

pytestmark = pytest.mark.engine
ACCOUNT = "123456789012"
SITE = {"StringEquals": {"aws:ResourceTag/nightshift:site": "lab"}}
Signer = Callable[[str], Any]


def site_tag(value: str) -> list[dict[str, Any]]:
    return [{"ResourceType": "volume", "Tags": [{"Key": "nightshift:site", "Value": value}]}]


@pytest.fixture(scope="module")
def bucket(ours: Any) -> str:
    name = ours.name("nightshift-lab-data")
    ours.s3.create_bucket(Bucket=name)
    return name


@pytest.fixture(scope="module")
def node(ours: Any, bucket: str) -> str:
    """An instance of a group whose role is as narrow as a site's."""
    statements = [
        {"Effect": "Allow", "Action": ["ec2:DescribeVolumes", "ec2:DescribeInstances"], "Resource": "*"},
        {
            "Effect": "Allow",
            "Action": ["ec2:AttachVolume", "ec2:DetachVolume"],
            "Resource": f"arn:aws:ec2:us-east-1:{ACCOUNT}:volume/*",
            "Condition": SITE,
        },
        {
            "Effect": "Allow",
            "Action": ["ec2:AttachVolume", "ec2:DetachVolume", "ec2:CreateTags"],
            "Resource": f"arn:aws:ec2:us-east-1:{ACCOUNT}:instance/*",
            "Condition": {"StringLike": {"aws:userid": "*:${ec2:InstanceID}"}},
        },
        {
            "Effect": "Allow",
            "Action": "s3:PutObject",
            "Resource": f"arn:aws:s3:::{bucket}/nodes/${{aws:userid}}/*",
        },
        {"Effect": "Allow", "Action": "s3:GetObject", "Resource": f"arn:aws:s3:::{bucket}/overrides/*"},
        {
            "Effect": "Allow",
            "Action": ["autoscaling:CompleteLifecycleAction", "autoscaling:RecordLifecycleActionHeartbeat"],
            "Resource": "*",
            "Condition": {"StringEquals": {"autoscaling:ResourceTag/nightshift:site": "lab"}},
        },
        {
            "Effect": "Allow",
            "Action": "cloudwatch:PutMetricData",
            "Resource": "*",
            "Condition": {"StringEquals": {"cloudwatch:namespace": "Nightshift"}},
        },
        {
            "Effect": "Allow",
            "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
            "Resource": f"arn:aws:logs:us-east-1:{ACCOUNT}:log-group:/nightshift/lab:*",
        },
    ]
    role = ours.role("ec2.amazonaws.com", *statements).rsplit("/", 1)[-1]
    ours.iam.create_instance_profile(InstanceProfileName=role)
    ours.iam.add_role_to_instance_profile(InstanceProfileName=role, RoleName=role)
    tag = {"Key": "nightshift:site", "Value": "lab", "PropagateAtLaunch": True}
    group = ours.group(ours.template(IamInstanceProfile={"Name": role}), DesiredCapacity=1, Tags=[tag])
    return ours.members(group)[0]["InstanceId"]


def denied(call: Callable[[], object], code: str) -> str:
    with pytest.raises(ClientError) as caught:
        call()
    assert caught.value.response["Error"]["Code"] == code, caught.value
    return str(caught.value)


def test_a_node_is_its_role_and_its_instance(node: str, aws_as: Signer) -> None:
    identity = aws_as(node).sts.get_caller_identity()
    assert identity["Arn"].endswith(f"/{node}")
    assert identity["UserId"].startswith("AROA")
    assert identity["UserId"].endswith(f":{node}")


def test_a_node_attaches_its_own_site_s_volume_only(node: str, ours: Any, aws_as: Signer) -> None:
    me = aws_as(node)
    mine, other, bare = (
        ours.volume(TagSpecifications=site_tag("lab")),
        ours.volume(TagSpecifications=site_tag("desk")),
        ours.volume(),
    )
    for volume in (other, bare):
        text = denied(
            lambda volume=volume: me.ec2.attach_volume(VolumeId=volume, InstanceId=node, Device="/dev/sdf"),
            "UnauthorizedOperation",
        )
        assert f"volume/{volume}" in text
    assert me.ec2.attach_volume(VolumeId=mine, InstanceId=node, Device="/dev/sdf")["State"] == "attaching"


def test_a_node_tags_no_volume_and_no_other_node(node: str, ours: Any, aws_as: Signer) -> None:
    me = aws_as(node)
    volume = ours.volume(TagSpecifications=site_tag("lab"))
    tag = [{"Key": "nightshift:site", "Value": "desk"}]
    denied(lambda: me.ec2.create_tags(Resources=[volume], Tags=tag), "UnauthorizedOperation")
    other = ours.instance()
    denied(lambda: me.ec2.create_tags(Resources=[other], Tags=tag), "UnauthorizedOperation")
    me.ec2.create_tags(Resources=[node], Tags=[{"Key": "ready", "Value": "1"}])


def test_a_node_writes_its_own_record_only(node: str, bucket: str, aws_as: Signer) -> None:
    me = aws_as(node)
    user = me.sts.get_caller_identity()["UserId"]
    me.s3.put_object(Bucket=bucket, Key=f"nodes/{user}/readiness.json", Body=b"{}")
    other = user.replace("i-", "i-0")
    denied(lambda: me.s3.put_object(Bucket=bucket, Key=f"nodes/{other}/x", Body=b"{}"), "AccessDenied")
    denied(lambda: me.s3.get_object(Bucket=bucket, Key=f"nodes/{user}/readiness.json"), "AccessDenied")


def test_a_missing_object_is_hidden_from_whoever_may_not_list(
    node: str, bucket: str, ours: Any, aws_as: Signer
) -> None:
    me = aws_as(node)
    denied(lambda: me.s3.get_object(Bucket=bucket, Key="overrides/vit.json"), "AccessDenied")
    ours.s3.put_object(Bucket=bucket, Key="overrides/vit.json", Body=b"{}")
    assert me.s3.get_object(Bucket=bucket, Key="overrides/vit.json")["Body"].read() == b"{}"


def test_a_refused_head_request_leaves_the_connection_usable(node: str, bucket: str, aws_as: Signer) -> None:
    me = aws_as(node)
    for _ in range(3):
        denied(lambda: me.s3.head_object(Bucket=bucket, Key="secret"), "403")
        denied(lambda: me.s3.get_object(Bucket=bucket, Key="secret"), "AccessDenied")


def test_a_node_updates_no_group(node: str, ours: Any, aws_as: Signer) -> None:
    me = aws_as(node)
    group = ours.autoscaling.describe_auto_scaling_instances(InstanceIds=[node])
    name = group["AutoScalingInstances"][0]["AutoScalingGroupName"]
    denied(
        lambda: me.autoscaling.update_auto_scaling_group(AutoScalingGroupName=name, MaxSize=9), "AccessDenied"
    )
    denied(
        lambda: me.autoscaling.set_desired_capacity(AutoScalingGroupName=name, DesiredCapacity=4),
        "AccessDenied",
    )


def test_a_node_completes_actions_of_its_site_s_groups(node: str, ours: Any, aws_as: Signer) -> None:
    me = aws_as(node)
    group = ours.autoscaling.describe_auto_scaling_instances(InstanceIds=[node])
    name = group["AutoScalingInstances"][0]["AutoScalingGroupName"]
    whole = {"LifecycleHookName": "ready", "LifecycleActionResult": "CONTINUE", "InstanceId": node}
    with pytest.raises(ClientError, match="No active Lifecycle Action"):
        me.autoscaling.complete_lifecycle_action(AutoScalingGroupName=name, **whole)
    other = ours.group()
    denied(
        lambda: me.autoscaling.complete_lifecycle_action(AutoScalingGroupName=other, **whole), "AccessDenied"
    )


def test_a_node_writes_logs_and_metrics_where_it_may(node: str, ours: Any, aws_as: Signer) -> None:
    me = aws_as(node)
    for name in ("/nightshift/lab", "/nightshift/desk"):
        ours.logs.create_log_group(logGroupName=name)
    me.logs.create_log_stream(logGroupName="/nightshift/lab", logStreamName=node)
    denied(
        lambda: me.logs.create_log_stream(logGroupName="/nightshift/desk", logStreamName=node),
        "AccessDeniedException",
    )
    data = [{"MetricName": "BootFailed", "Value": 1.0}]
    me.cloudwatch.put_metric_data(Namespace="Nightshift", MetricData=data)
    denied(lambda: me.cloudwatch.put_metric_data(Namespace="Other", MetricData=data), "AccessDenied")


def test_what_cannot_be_resolved_is_refused_to_nodes(node: str, aws_as: Signer) -> None:
    me = aws_as(node)
    text = denied(lambda: me.ec2.create_vpc(CidrBlock="10.0.0.0/16"), "UnauthorizedOperation")
    assert "can't resolve" in text
    denied(lambda: me.iam.list_roles(), "AccessDenied")
    denied(lambda: me.dlm.create_lifecycle_policy(), "AccessDeniedException")


def test_a_role_that_changes_counts_at_once(node: str, ours: Any, aws_as: Signer) -> None:
    me = aws_as(node)
    denied(lambda: me.ec2.describe_images(), "UnauthorizedOperation")
    role = me.sts.get_caller_identity()["Arn"].split("/")[1]
    statement = {"Effect": "Allow", "Action": "ec2:DescribeImages", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    ours.iam.put_role_policy(RoleName=role, PolicyName="more", PolicyDocument=document)
    assert me.ec2.describe_images()["Images"]


def test_credentials_end(node: str, ours: Any, cloud: Any, aws_as: Signer) -> None:
    me = aws_as(node)
    try:
        cloud.control("clock", {"now": ours.soon(hours=7).isoformat()})
        denied(lambda: me.ec2.describe_volumes(), "RequestExpired")
    finally:
        cloud.control("clock", {"now": None})


def test_an_instance_without_a_profile_gets_none(ours: Any, aws_as: Signer) -> None:
    with pytest.raises(RuntimeError, match="no instance profile"):
        aws_as(ours.instance())


def test_a_bucket_that_denies_without_tls_lets_others_in(ours: Any, bucket: str) -> None:
    resources = [f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"]
    statement = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": resources,
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    ours.s3.put_bucket_policy(
        Bucket=bucket, Policy=json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    )
    ours.s3.put_object(Bucket=bucket, Key="k", Body=b"1")
    del statement["Condition"]
    ours.s3.put_bucket_policy(
        Bucket=bucket, Policy=json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    )
    denied(lambda: ours.s3.put_object(Bucket=bucket, Key="k", Body=b"1"), "AccessDenied")
    ours.s3.delete_bucket_policy(Bucket=bucket)

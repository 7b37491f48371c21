"""One test per row: Auto Scaling groups and mixed instances policies."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.engine
Prove = Callable[[Callable[[Any], Callable[[], object]]], None]


def creation(**given: Any) -> Callable[[Any], Callable[[], object]]:
    return lambda aws: lambda: aws.group(**given)


def test_group_exists(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        name = aws.group()
        return lambda: aws.group(name=name)

    refused(attempt)


def test_group_name(refused: Prove) -> None:
    refused(creation(name="nightshift:lab"))


def test_group_min_above_max(refused: Prove) -> None:
    refused(creation(MinSize=7, MaxSize=3))


def test_group_desired_outside(refused: Prove) -> None:
    refused(creation(MinSize=0, MaxSize=1, DesiredCapacity=2))


def test_group_set_desired_outside(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        group = aws.group(MaxSize=1)
        return lambda: aws.autoscaling.set_desired_capacity(AutoScalingGroupName=group, DesiredCapacity=2)

    refused(attempt)


def test_group_set_desired_missing(refused: Prove) -> None:
    refused(
        lambda aws: (
            lambda: aws.autoscaling.set_desired_capacity(
                AutoScalingGroupName="no-such-group", DesiredCapacity=0
            )
        )
    )


def test_group_health_type(refused: Prove) -> None:
    refused(creation(HealthCheckType="PING"))


def test_group_lifetime(refused: Prove) -> None:
    refused(creation(MaxInstanceLifetime=3600))


def test_group_placement_unknown(refused: Prove) -> None:
    refused(creation(PlacementGroup="no-such-placement"))


def test_group_cluster_two_zones(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        name = aws.name("pg")
        aws.ec2.create_placement_group(GroupName=name, Strategy="cluster")
        both = f"{aws.subnet('us-east-1a')},{aws.subnet('us-east-1b')}"
        return lambda: aws.group(PlacementGroup=name, VPCZoneIdentifier=both)

    refused(attempt)


def test_group_more_than_500(refused: Prove, cloud: Any) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        template = aws.template()
        whole = {"MinSize": 0, "MaxSize": 0, "AvailabilityZones": ["us-east-1f"]}
        whole["LaunchTemplate"] = {"LaunchTemplateId": template, "Version": "1"}
        there = 0
        for page in aws.autoscaling.get_paginator("describe_auto_scaling_groups").paginate():
            there += len(page["AutoScalingGroups"])
        for number in range(500 - there):
            aws.autoscaling.create_auto_scaling_group(AutoScalingGroupName=f"many-{number}", **whole)
        return lambda: aws.autoscaling.create_auto_scaling_group(AutoScalingGroupName="many-500", **whole)

    try:
        refused(attempt)
    finally:
        cloud.control("reset", {})


def test_group_delete_with_instances(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        group = aws.group(DesiredCapacity=1)
        return lambda: aws.autoscaling.delete_auto_scaling_group(AutoScalingGroupName=group)

    refused(attempt)


def test_group_decrement_below_min(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        group = aws.group(MinSize=1, DesiredCapacity=1)
        (member,) = aws.members(group)
        return lambda: aws.autoscaling.terminate_instance_in_auto_scaling_group(
            InstanceId=member["InstanceId"], ShouldDecrementDesiredCapacity=True
        )

    refused(attempt)


def test_group_process_name(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        group = aws.group()
        return lambda: aws.autoscaling.suspend_processes(
            AutoScalingGroupName=group, ScalingProcesses=["Lunch"]
        )

    refused(attempt)


def test_group_policy_missing_group(refused: Prove) -> None:
    refused(
        lambda aws: (
            lambda: aws.autoscaling.put_scaling_policy(
                AutoScalingGroupName="no-such-group",
                PolicyName="to-zero",
                PolicyType="StepScaling",
                AdjustmentType="ExactCapacity",
                StepAdjustments=[{"MetricIntervalLowerBound": 0, "ScalingAdjustment": 0}],
            )
        )
    )


def test_group_notify_missing_group(refused: Prove) -> None:
    refused(
        lambda aws: (
            lambda: aws.autoscaling.put_notification_configuration(
                AutoScalingGroupName="no-such-group",
                TopicARN="arn:aws:sns:us-east-1:123456789012:nightshift-lab",
                NotificationTypes=["autoscaling:EC2_INSTANCE_LAUNCH_ERROR"],
            )
        )
    )


def mixed(*types: str, **distribution: Any) -> Callable[[Any], Callable[[], object]]:
    def attempt(aws: Any) -> Callable[[], object]:
        policy = aws.mixed(*types, **distribution)
        return lambda: aws.group(MixedInstancesPolicy=policy)

    return attempt


def test_mixed_percent(refused: Prove) -> None:
    refused(mixed(OnDemandPercentageAboveBaseCapacity=101))


def test_mixed_strategy(refused: Prove) -> None:
    refused(mixed(SpotAllocationStrategy="cheapest"))


def test_mixed_pools(refused: Prove) -> None:
    refused(mixed(SpotAllocationStrategy="capacity-optimized", SpotInstancePools=2))


def test_mixed_duplicate_types(refused: Prove) -> None:
    refused(mixed("g5.xlarge", "g5.xlarge"))


def test_mixed_more_than_40_types(refused: Prove) -> None:
    sizes = ("large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge", "24xlarge")
    types = [f"{family}.{size}" for family in ("m5", "m5d", "m5n", "c5n", "r5", "r5d") for size in sizes]
    refused(mixed(*types[:41]))


def test_mixed_weights(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        policy = aws.mixed("g5.xlarge", "g5.2xlarge")
        policy["LaunchTemplate"]["Overrides"][0]["WeightedCapacity"] = "1000"
        return lambda: aws.group(MixedInstancesPolicy=policy)

    refused(attempt)


def test_group_tag_reserved(refused: Prove) -> None:
    refused(creation(Tags=[{"Key": "aws:mine", "Value": "1", "PropagateAtLaunch": True}]))


def test_group_tag_count(refused: Prove) -> None:
    tags = [{"Key": f"k{i}", "Value": "v", "PropagateAtLaunch": False} for i in range(51)]
    refused(creation(Tags=tags))


def _inline(size: int) -> str:
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/" + "x" * size}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def test_iam_inline_size(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        role = aws.role().rsplit("/", 1)[-1]
        return lambda: aws.iam.put_role_policy(
            RoleName=role, PolicyName="node", PolicyDocument=_inline(10_240)
        )

    refused(attempt)


def test_iam_managed_size(refused: Prove) -> None:
    refused(
        lambda aws: (
            lambda: aws.iam.create_policy(PolicyName=aws.name("policy"), PolicyDocument=_inline(6_144))
        )
    )


def test_iam_trust_size(refused: Prove) -> None:
    statement = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    condition = {"StringEquals": {"aws:SourceAccount": ["1" * 12] * 150}}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement | {"Condition": condition}]})
    refused(
        lambda aws: lambda: aws.iam.create_role(RoleName=aws.name("role"), AssumeRolePolicyDocument=document)
    )


def test_iam_attached_policies(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        role = aws.role().rsplit("/", 1)[-1]
        arns = [
            aws.iam.create_policy(PolicyName=aws.name("policy"), PolicyDocument=_inline(5))["Policy"]["Arn"]
            for _ in range(11)
        ]
        for arn in arns[:10]:
            aws.iam.attach_role_policy(RoleName=role, PolicyArn=arn)
        return lambda: aws.iam.attach_role_policy(RoleName=role, PolicyArn=arns[10])

    refused(attempt)

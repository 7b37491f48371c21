"""The life of a group's instances on the emulated AWS: hooks, zones, markets, shortages, ends."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

pytestmark = pytest.mark.engine
LAUNCH, END = "autoscaling:EC2_INSTANCE_LAUNCHING", "autoscaling:EC2_INSTANCE_TERMINATING"


def hooked(aws: Any, launch: str = "ABANDON", end: str = "CONTINUE", seconds: int = 600) -> str:
    group = aws.group()
    for name, transition, result in (("ready", LAUNCH, launch), ("drain", END, end)):
        aws.autoscaling.put_lifecycle_hook(
            AutoScalingGroupName=group,
            LifecycleHookName=name,
            LifecycleTransition=transition,
            HeartbeatTimeout=seconds,
            DefaultResult=result,
        )
    return group


def desire(aws: Any, group: str, count: int) -> None:
    aws.autoscaling.set_desired_capacity(AutoScalingGroupName=group, DesiredCapacity=count)


def complete(aws: Any, group: str, hook: str, instance: str, result: str = "CONTINUE") -> None:
    aws.autoscaling.complete_lifecycle_action(
        AutoScalingGroupName=group,
        LifecycleHookName=hook,
        LifecycleActionResult=result,
        InstanceId=instance,
    )


def states(aws: Any, group: str) -> list[str]:
    return [member["LifecycleState"] for member in aws.members(group)]


@pytest.fixture(autouse=True)
def at_ease(cloud: Any) -> Any:
    """The clock and the faults go back when the test is over."""
    yield cloud
    cloud.control("clock", {"now": None})
    cloud.control("faults", {"insufficient": {"*": 0, "g5.xlarge": 0}})


def test_a_launching_hook_holds_an_instance_until_it_is_completed(ours: Any) -> None:
    group = hooked(ours)
    desire(ours, group, 1)
    (member,) = ours.members(group)
    assert member["LifecycleState"] == "Pending:Wait"
    desire(ours, group, 1)
    assert len(ours.members(group)) == 1
    complete(ours, group, "ready", member["InstanceId"])
    assert states(ours, group) == ["InService"]


def test_abandoning_a_launch_ends_the_instance_and_starts_another(ours: Any) -> None:
    group = hooked(ours)
    desire(ours, group, 1)
    (first,) = ours.members(group)
    complete(ours, group, "ready", first["InstanceId"], "ABANDON")
    (second,) = ours.members(group)
    assert second["InstanceId"] != first["InstanceId"]
    assert second["LifecycleState"] == "Pending:Wait"


def test_a_terminating_hook_holds_an_instance_and_does_not_count_it(ours: Any) -> None:
    group = hooked(ours)
    desire(ours, group, 1)
    (member,) = ours.members(group)
    complete(ours, group, "ready", member["InstanceId"])
    desire(ours, group, 0)
    assert states(ours, group) == ["Terminating:Wait"]
    desire(ours, group, 1)
    assert sorted(states(ours, group)) == ["Pending:Wait", "Terminating:Wait"]
    complete(ours, group, "drain", member["InstanceId"])
    assert states(ours, group) == ["Pending:Wait"]
    found = ours.ec2.describe_instances(InstanceIds=[member["InstanceId"]])
    assert found["Reservations"][0]["Instances"][0]["State"]["Name"] == "terminated"


def test_completing_twice_is_refused_as_on_aws(ours: Any) -> None:
    group = hooked(ours)
    desire(ours, group, 1)
    (member,) = ours.members(group)
    complete(ours, group, "ready", member["InstanceId"])
    with pytest.raises(ClientError, match="No active Lifecycle Action found"):
        complete(ours, group, "ready", member["InstanceId"])


def test_a_heartbeat_moves_the_deadline_up_to_the_limit(ours: Any, cloud: Any) -> None:
    group = hooked(ours, seconds=30)
    desire(ours, group, 1)
    (member,) = ours.members(group)

    def row() -> dict[str, str]:
        rows = cloud.control("hooks")["actions"]
        return next(one for one in rows if one["instance_id"] == member["InstanceId"])

    before = row()
    cloud.control("clock", {"now": ours.soon(seconds=20).isoformat()})
    ours.autoscaling.record_lifecycle_action_heartbeat(
        AutoScalingGroupName=group, LifecycleHookName="ready", InstanceId=member["InstanceId"]
    )
    assert before["deadline"] < row()["deadline"] <= before["limit"]


def test_past_its_deadline_an_action_ends_by_its_default(ours: Any, cloud: Any) -> None:
    group = hooked(ours, launch="CONTINUE", seconds=30)
    desire(ours, group, 1)
    cloud.control("settle", {})
    assert states(ours, group) == ["Pending:Wait"]
    cloud.control("clock", {"now": ours.soon(hours=1).isoformat()})
    cloud.control("settle", {})
    assert states(ours, group) == ["InService"]


def test_deleting_a_hook_lets_its_instances_go_on(ours: Any) -> None:
    group = hooked(ours)
    desire(ours, group, 1)
    ours.autoscaling.delete_lifecycle_hook(AutoScalingGroupName=group, LifecycleHookName="ready")
    assert states(ours, group) == ["InService"]


def test_a_node_that_ends_itself_with_decrement_is_not_replaced(ours: Any) -> None:
    group = hooked(ours)
    desire(ours, group, 2)
    one, two = (member["InstanceId"] for member in ours.members(group))
    for instance in (one, two):
        complete(ours, group, "ready", instance)
    ours.autoscaling.terminate_instance_in_auto_scaling_group(
        InstanceId=one, ShouldDecrementDesiredCapacity=True
    )
    complete(ours, group, "drain", one)
    (left,) = ours.members(group)
    assert left["InstanceId"] == two
    described = ours.autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[group])
    assert described["AutoScalingGroups"][0]["DesiredCapacity"] == 1


def test_an_instance_ended_through_ec2_is_replaced(ours: Any) -> None:
    group = ours.group(DesiredCapacity=1)
    (first,) = ours.members(group)
    ours.ec2.terminate_instances(InstanceIds=[first["InstanceId"]])
    (second,) = ours.members(group)
    assert second["InstanceId"] != first["InstanceId"]


def test_a_shortage_leads_to_the_next_type_and_then_to_a_failed_activity(ours: Any, at_ease: Any) -> None:
    at_ease.control("faults", {"insufficient": {"g5.xlarge": 1}})
    group = ours.group(MixedInstancesPolicy=ours.mixed("g5.xlarge", "g5.2xlarge"))
    desire(ours, group, 1)
    assert [member["InstanceType"] for member in ours.members(group)] == ["g5.2xlarge"]
    at_ease.control("faults", {"insufficient": {"*": 2}})
    desire(ours, group, 2)
    assert len(ours.members(group)) == 1
    activity = ours.autoscaling.describe_scaling_activities(AutoScalingGroupName=group)["Activities"][0]
    assert activity["StatusCode"] == "Failed"
    assert "sufficient g5.2xlarge capacity" in activity["StatusMessage"]
    at_ease.control("settle", {})
    assert len(ours.members(group)) == 2


def test_a_suspended_launch_launches_nothing_until_resumed(ours: Any, cloud: Any) -> None:
    group = ours.group()
    ours.autoscaling.suspend_processes(AutoScalingGroupName=group, ScalingProcesses=["Launch"])
    desire(ours, group, 1)
    assert ours.members(group) == []
    ours.autoscaling.resume_processes(AutoScalingGroupName=group, ScalingProcesses=["Launch"])
    cloud.control("settle", {})
    assert len(ours.members(group)) == 1


def test_instances_get_what_their_template_version_says(ours: Any) -> None:
    template = ours.template(MetadataOptions={"HttpTokens": "required", "HttpPutResponseHopLimit": 2})
    disk = {"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 120, "VolumeType": "gp3", "Encrypted": True}}
    tags = {"ResourceType": "volume", "Tags": [{"Key": "nightshift:site", "Value": "lab"}]}
    data = {"BlockDeviceMappings": [disk], "TagSpecifications": [tags], "InstanceType": "g5.2xlarge"}
    ours.ec2.create_launch_template_version(
        LaunchTemplateId=template, SourceVersion="1", LaunchTemplateData=data
    )
    group = ours.group(template)
    ours.autoscaling.update_auto_scaling_group(
        AutoScalingGroupName=group, LaunchTemplate={"LaunchTemplateId": template, "Version": "2"}
    )
    desire(ours, group, 1)
    (member,) = ours.members(group)
    assert (member["InstanceType"], member["LaunchTemplate"]["Version"]) == ("g5.2xlarge", "2")
    instance = member["InstanceId"]
    found = ours.ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]
    assert found["MetadataOptions"]["HttpTokens"] == "required"
    filters = [{"Name": "attachment.instance-id", "Values": [instance]}]
    (root,) = ours.ec2.describe_volumes(Filters=filters)["Volumes"]
    assert (root["Size"], root["Encrypted"]) == (120, True)
    assert root["Tags"] == [{"Key": "nightshift:site", "Value": "lab"}]


def test_several_zones_are_filled_evenly(ours: Any) -> None:
    both = f"{ours.subnet('us-east-1a')},{ours.subnet('us-east-1b')}"
    group = ours.group(VPCZoneIdentifier=both, DesiredCapacity=4)
    zones = [member["AvailabilityZone"] for member in ours.members(group)]
    assert sorted(zones) == ["us-east-1a", "us-east-1a", "us-east-1b", "us-east-1b"]


def test_the_on_demand_share_is_kept(ours: Any) -> None:
    policy = ours.mixed("g5.xlarge", OnDemandBaseCapacity=1, OnDemandPercentageAboveBaseCapacity=0)
    group = ours.group(MixedInstancesPolicy=policy, DesiredCapacity=3)
    ids = [member["InstanceId"] for member in ours.members(group)]
    found = ours.ec2.describe_instances(InstanceIds=ids)["Reservations"]
    markets = [one["Instances"][0].get("InstanceLifecycle", "on-demand") for one in found]
    assert sorted(markets) == ["on-demand", "spot", "spot"]
    ours.autoscaling.delete_auto_scaling_group(AutoScalingGroupName=group, ForceDelete=True)


def test_many_efa_interfaces_keep_their_cards_indexes(ours: Any) -> None:
    nics: list[dict[str, Any]] = [{"NetworkCardIndex": 0, "DeviceIndex": 0}]
    nics += [{"NetworkCardIndex": card, "DeviceIndex": 1, "InterfaceType": "efa-only"} for card in range(4)]
    group = ours.group(ours.template(InstanceType="p4d.24xlarge", NetworkInterfaces=nics), DesiredCapacity=1)
    (member,) = ours.members(group)
    found = ours.ec2.describe_instances(InstanceIds=[member["InstanceId"]])["Reservations"][0]["Instances"][0]
    indexes = [nic["Attachment"]["DeviceIndex"] for nic in found["NetworkInterfaces"]]
    assert sorted(indexes) == [0, 1, 1, 1, 1]


def test_hooks_given_at_creation_hold_the_first_instances(ours: Any) -> None:
    hook = {"LifecycleHookName": "ready", "LifecycleTransition": LAUNCH, "HeartbeatTimeout": 900}
    group = ours.group(DesiredCapacity=1, LifecycleHookSpecificationList=[hook])
    assert states(ours, group) == ["Pending:Wait"]


def test_the_same_action_name_serves_two_groups(ours: Any) -> None:
    groups = [ours.group(), ours.group()]
    for number, group in enumerate(groups):
        ours.schedule(group, ScheduledActionName="up-2000", Recurrence="0 20 * * 1", DesiredCapacity=number)
    for number, group in enumerate(groups):
        found = ours.autoscaling.describe_scheduled_actions(AutoScalingGroupName=group)
        (action,) = found["ScheduledUpdateGroupActions"]
        assert action["DesiredCapacity"] == number
        assert "MinSize" not in action
        assert action["StartTime"].weekday() == 0


def test_an_update_leaves_alone_what_it_does_not_name(ours: Any) -> None:
    group = ours.group(MixedInstancesPolicy=ours.mixed(), DefaultInstanceWarmup=0, HealthCheckGracePeriod=7)
    ours.autoscaling.update_auto_scaling_group(AutoScalingGroupName=group, MaxSize=3)
    (found,) = ours.autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[group])[
        "AutoScalingGroups"
    ]
    assert found["MaxSize"] == 3
    assert found["DefaultInstanceWarmup"] == 0
    assert found["HealthCheckGracePeriod"] == 7
    overrides = found["MixedInstancesPolicy"]["LaunchTemplate"]["Overrides"]
    assert [one["InstanceType"] for one in overrides] == ["g5.xlarge", "g5.2xlarge"]


def test_a_step_policy_brings_a_group_to_exactly_zero(ours: Any) -> None:
    group = ours.group(DesiredCapacity=2)
    ours.autoscaling.put_scaling_policy(
        AutoScalingGroupName=group,
        PolicyName="to-zero",
        PolicyType="StepScaling",
        AdjustmentType="ExactCapacity",
        StepAdjustments=[{"MetricIntervalLowerBound": 0, "ScalingAdjustment": 0}],
    )
    ours.autoscaling.execute_policy(
        AutoScalingGroupName=group, PolicyName="to-zero", MetricValue=5.0, BreachThreshold=3.0
    )
    assert ours.members(group) == []


def test_deleting_a_group_takes_its_hooks_and_schedules_along(ours: Any) -> None:
    group = hooked(ours)
    ours.schedule(group, Recurrence="0 20 * * 1", DesiredCapacity=1)
    ours.autoscaling.delete_auto_scaling_group(AutoScalingGroupName=group)
    fresh = ours.group(name=group)
    assert ours.autoscaling.describe_lifecycle_hooks(AutoScalingGroupName=fresh)["LifecycleHooks"] == []
    found = ours.autoscaling.describe_scheduled_actions(AutoScalingGroupName=fresh)
    assert found["ScheduledUpdateGroupActions"] == []

"""A node lives and ends with its instance, and hears what its group wants of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nightshift.emulator.cloud import Cloud
from nightshift.emulator.sandbox.network import Network, reason_to_skip
from nightshift.emulator.sandbox.node import Node
from nightshift.rehearsal.clients import Clients, clients_of
from tests.emulator.sandbox.support.waiting import soon

pytestmark = pytest.mark.node
ROOT = Path(__file__).parents[3]
IMAGE, REGION = "ami-0abc0000000000001", "us-east-1"
STATE = """
from bootstrap.start.fetch import imds
print(imds("autoscaling/target-lifecycle-state"))
"""


@pytest.fixture
def aws(cloud: Cloud) -> Clients:
    cloud.control("reset", {})
    return clients_of(cloud.endpoint, REGION)


@pytest.fixture
def net(cloud: Cloud, aws: Clients) -> Iterator[Network]:
    if reason := reason_to_skip():
        pytest.skip(reason)
    with Network(cloud=cloud.endpoint) as made:
        yield made


def instance(aws: Clients) -> str:
    made = aws("ec2").run_instances(ImageId=IMAGE, InstanceType="g4dn.xlarge", MinCount=1, MaxCount=1)
    return str(made["Instances"][0]["InstanceId"])


def state(aws: Clients, instance_id: str) -> str:
    found = aws("ec2").describe_instances(InstanceIds=[instance_id])
    return str(found["Reservations"][0]["Instances"][0]["State"]["Name"])


def booted(net: Network, instance_id: str, user_data: bytes = b"#!/bin/sh\n") -> Node:
    node = net.node(instance_id, start=False)
    node.image.cloud_init_s = 5
    node.imds.user_data = user_data
    node.boot()
    return node


def test_a_terminated_instances_node_shuts_down(net: Network, aws: Clients) -> None:
    node = booted(net, instance(aws))
    aws("ec2").terminate_instances(InstanceIds=[node.id])
    assert soon(lambda: not node.up)
    assert node.ended == "poweroff"
    aws("ec2").terminate_instances(InstanceIds=[node.id])
    assert state(aws, node.id) == "terminated", "ended a second time, it's ended"


def test_a_node_that_turns_itself_off_ends_its_instance(net: Network, aws: Clients) -> None:
    node = booted(net, instance(aws), b"#!/bin/sh\npoweroff\n")
    assert soon(lambda: state(aws, node.id) == "terminated")
    assert not node.up


def test_a_unit_that_fails_for_good_turns_its_node_off_where_it_says_so(net: Network, aws: Clients) -> None:
    """As the agent's unit does: a node that nobody looks after must not be billed until its shift ends."""
    again = "Restart=on-failure\\nRestartSec=1\\nRestartPreventExitStatus=78"
    unit = f"[Unit]\\nFailureAction=poweroff\\n[Service]\\nExecStart=/bin/sh -c 'exit 78'\\n{again}\\n"
    begin = f'printf "{unit}" > /etc/systemd/system/a.service && systemctl restart --no-block a.service'
    node = booted(net, instance(aws), f"#!/bin/sh\nmkdir -p /etc/systemd/system\n{begin}\n".encode())
    assert soon(lambda: state(aws, node.id) == "terminated")
    assert "power off: FailureAction of a.service" in node.events


def test_a_killed_nodes_instance_runs_on(net: Network, aws: Clients) -> None:
    node = booted(net, instance(aws))
    node.kill()
    time.sleep(1)
    assert state(aws, node.id) == "running"


def test_metadata_follows_the_group(net: Network, aws: Clients) -> None:
    scaling, ec2 = aws("autoscaling"), aws("ec2")
    ec2.create_launch_template(
        LaunchTemplateName="one", LaunchTemplateData={"ImageId": IMAGE, "InstanceType": "g4dn.xlarge"}
    )
    zone = [{"Name": "availability-zone", "Values": ["us-east-1a"]}]
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="one",
        MinSize=0,
        MaxSize=1,
        VPCZoneIdentifier=ec2.describe_subnets(Filters=zone)["Subnets"][0]["SubnetId"],
        LaunchTemplate={"LaunchTemplateName": "one", "Version": "$Latest"},
    )
    scaling.put_lifecycle_hook(
        AutoScalingGroupName="one",
        LifecycleHookName="drain",
        LifecycleTransition="autoscaling:EC2_INSTANCE_TERMINATING",
        DefaultResult="CONTINUE",
        HeartbeatTimeout=60,
    )
    scaling.set_desired_capacity(AutoScalingGroupName="one", DesiredCapacity=1)
    group = scaling.describe_auto_scaling_groups(AutoScalingGroupNames=["one"])["AutoScalingGroups"][0]
    node = net.node(group["Instances"][0]["InstanceId"])
    ask = [sys.executable, "-c", STATE]
    assert node.run(ask, cwd=ROOT).stdout == "InService\n"
    scaling.set_desired_capacity(AutoScalingGroupName="one", DesiredCapacity=0)
    assert node.run(ask, cwd=ROOT).stdout == "Terminated\n"
    assert node.up, "until its hook is complete"
    scaling.complete_lifecycle_action(
        AutoScalingGroupName="one",
        LifecycleHookName="drain",
        LifecycleActionResult="CONTINUE",
        InstanceId=node.id,
    )
    assert soon(lambda: not node.up)

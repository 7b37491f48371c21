"""AttachVolume makes a device appear in the node, DetachVolume takes it away, and its data stay."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest

from nightshift.emulator.cloud import Cloud
from nightshift.emulator.sandbox.devices import GIB
from nightshift.emulator.sandbox.network import Network, reason_to_skip
from nightshift.emulator.sandbox.node import Node
from nightshift.emulator.sandbox.volumes import Volumes

pytestmark = pytest.mark.node
IMAGE = "ami-0abc0000000000001"


def soon(true: Callable[[], bool], within_s: float = 5) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.01)
    return False


@pytest.fixture
def ec2(cloud: Cloud) -> Iterator[Any]:
    cloud.control("reset", {})
    client = boto3.client(
        "ec2",
        region_name="us-east-1",
        endpoint_url=cloud.endpoint,
        aws_access_key_id="operator",
        aws_secret_access_key="operator",
    )
    yield client
    client.close()


@pytest.fixture
def net(cloud: Cloud, ec2: Any) -> Iterator[Network]:
    if reason := reason_to_skip():
        pytest.skip(reason)
    with Network(cloud=cloud.endpoint) as made:
        yield made


def volumes(net: Network) -> Volumes:
    assert net.volumes is not None
    return net.volumes


def instance(net: Network, ec2: Any) -> Node:
    made = ec2.run_instances(
        ImageId=IMAGE,
        InstanceType="g4dn.xlarge",
        MinCount=1,
        MaxCount=1,
        Placement={"AvailabilityZone": "us-east-1a"},
    )
    return net.node(made["Instances"][0]["InstanceId"])


def volume(ec2: Any) -> str:
    return str(ec2.create_volume(AvailabilityZone="us-east-1a", Size=1, VolumeType="gp3")["VolumeId"])


def devices(node: Node) -> list[str]:
    return node.run(["sh", "-c", "ls /sys/block; ls /dev/disk/by-id"]).stdout.split()


def test_a_volume_goes_from_node_to_node_with_its_data(net: Network, ec2: Any) -> None:
    first, second, one = instance(net, ec2), instance(net, ec2), volume(ec2)
    ec2.attach_volume(VolumeId=one, InstanceId=first.id, Device="/dev/sdf")
    assert soon(lambda: bool(devices(first)))
    link = f"nvme-Amazon_Elastic_Block_Store_{one.replace('-', '')}"
    assert devices(first) == ["nvme1n1", link]
    said = first.run(["cat", "/sys/block/nvme1n1/device/serial"]).stdout
    assert said == f"{one.replace('-', ''):<20}\n"
    first.run(
        ["sh", "-c", f"mkfs.ext4 -q /dev/disk/by-id/{link} && mount /dev/nvme1n1 /mnt && echo kept > /mnt/a"]
    )
    first.run(["umount", "/mnt"])
    ec2.detach_volume(VolumeId=one, InstanceId=first.id)
    assert soon(lambda: not devices(first))
    ec2.attach_volume(VolumeId=one, InstanceId=second.id, Device="/dev/sdf")
    assert soon(lambda: bool(devices(second)))
    assert second.run(["sh", "-c", "mount /dev/nvme1n1 /mnt && cat /mnt/a"]).stdout == "kept\n"
    assert volumes(net).wrongs == []


def test_a_device_appears_and_goes_as_late_as_told(net: Network, ec2: Any) -> None:
    node, one = instance(net, ec2), volume(ec2)
    volumes(net).attach_s = volumes(net).detach_s = 1.0
    began = time.monotonic()
    ec2.attach_volume(VolumeId=one, InstanceId=node.id, Device="/dev/sdf")
    assert soon(lambda: bool(devices(node)))
    assert 0.9 < time.monotonic() - began < 3
    began = time.monotonic()
    ec2.detach_volume(VolumeId=one, InstanceId=node.id)
    assert soon(lambda: not devices(node))
    assert 0.9 < time.monotonic() - began < 3


def test_a_mounted_volume_is_kept_from_the_next_node_and_told(net: Network, ec2: Any) -> None:
    first, second, one = instance(net, ec2), instance(net, ec2), volume(ec2)
    ec2.attach_volume(VolumeId=one, InstanceId=first.id, Device="/dev/sdf")
    assert soon(lambda: bool(devices(first)))
    first.run(["sh", "-c", "mkfs.ext4 -q /dev/nvme1n1 && mount /dev/nvme1n1 /mnt"])
    ec2.detach_volume(VolumeId=one, InstanceId=first.id)
    ec2.attach_volume(VolumeId=one, InstanceId=second.id, Device="/dev/sdf")
    assert soon(lambda: bool(volumes(net).wrongs))
    assert volumes(net).wrongs == [f"{first.id}: nvme1n1 ({one}) detached while mounted"]
    assert devices(second) == []
    first.kill()
    assert soon(lambda: bool(devices(second))), "a dead node lets go"


def test_a_volume_that_grows_grows_under_the_node(net: Network, ec2: Any) -> None:
    node, one = instance(net, ec2), volume(ec2)
    ec2.attach_volume(VolumeId=one, InstanceId=node.id, Device="/dev/sdf")
    assert soon(lambda: bool(devices(node)))
    ec2.modify_volume(VolumeId=one, Size=2)
    assert soon(lambda: node.run(["blockdev", "--getsize64", "/dev/nvme1n1"]).stdout == f"{2 * GIB}\n")


def test_an_attached_volume_is_there_after_a_reboot(net: Network, ec2: Any) -> None:
    node, one = instance(net, ec2), volume(ec2)
    ec2.attach_volume(VolumeId=one, InstanceId=node.id, Device="/dev/sdf")
    assert soon(lambda: bool(devices(node)))
    node.kill()
    node.start()
    assert devices(node)[0] == "nvme1n1"


def test_a_terminated_instance_has_nothing_any_more(net: Network, ec2: Any) -> None:
    node, one = instance(net, ec2), volume(ec2)
    ec2.attach_volume(VolumeId=one, InstanceId=node.id, Device="/dev/sdf")
    assert soon(lambda: bool(devices(node)))
    ec2.terminate_instances(InstanceIds=[node.id])
    assert soon(lambda: not node.slots.plugged)

"""One test per row: EBS volumes and tags."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.engine
Prove = Callable[[Callable[[Any], Callable[[], object]]], None]


def creation(**given: Any) -> Callable[[Any], Callable[[], object]]:
    return lambda aws: lambda: aws.volume(**given)


def change(**given: Any) -> Callable[[Any], Callable[[], object]]:
    def attempt(aws: Any) -> Callable[[], object]:
        volume = aws.volume()
        return lambda: aws.ec2.modify_volume(VolumeId=volume, **given)

    return attempt


def attach(aws: Any, volume: str, instance: str, device: str = "/dev/sdf") -> object:
    return aws.ec2.attach_volume(VolumeId=volume, InstanceId=instance, Device=device)


def test_volume_unknown_zone(refused: Prove) -> None:
    refused(creation(AvailabilityZone="us-east-1z"))


def test_volume_size(refused: Prove) -> None:
    refused(creation(Size=65_537))


def test_volume_iops(refused: Prove) -> None:
    refused(creation(Iops=99_999, Size=1_000))


def test_volume_throughput(refused: Prove) -> None:
    refused(creation(Throughput=1_000, Iops=3_000))


def test_volume_smaller_than_snapshot(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        snapshot = aws.ec2.create_snapshot(VolumeId=aws.volume())["SnapshotId"]
        return lambda: aws.volume(SnapshotId=snapshot, Size=50)

    refused(attempt)


def test_volume_shrink(refused: Prove) -> None:
    refused(change(Size=50))


def test_volume_modify_size(refused: Prove) -> None:
    refused(change(Size=70_000))


def test_volume_modify_iops(refused: Prove) -> None:
    refused(change(Iops=90_000))


def test_volume_modify_throughput(refused: Prove) -> None:
    refused(change(Throughput=2_001))


def test_volume_modify_rate(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        volume = aws.volume()
        for size in (101, 102, 103, 104):
            aws.ec2.modify_volume(VolumeId=volume, Size=size)
        return lambda: aws.ec2.modify_volume(VolumeId=volume, Size=105)

    refused(attempt)


def test_volume_other_zone(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        volume, instance = aws.volume(AvailabilityZone="us-east-1b"), aws.instance("us-east-1a")
        return lambda: attach(aws, volume, instance)

    refused(attempt)


def test_volume_attached(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        volume = aws.volume()
        attach(aws, volume, aws.instance())
        other = aws.instance()
        return lambda: attach(aws, volume, other)

    refused(attempt)


def test_volume_not_running(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        instance, volume = aws.instance(), aws.volume()
        aws.ec2.terminate_instances(InstanceIds=[instance])
        return lambda: attach(aws, volume, instance)

    refused(attempt)


def test_volume_device_taken(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        instance, volume = aws.instance(), aws.volume()
        attach(aws, aws.volume(), instance)
        return lambda: attach(aws, volume, instance)

    refused(attempt)


def test_volume_too_many(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        instance = aws.instance()
        for number in range(23):
            attach(aws, aws.volume(Size=1), instance, f"/dev/sd{chr(ord('b') + number)}")
        volume = aws.volume(Size=1)
        return lambda: attach(aws, volume, instance, "/dev/xvdzz")

    refused(attempt)


def tagging(key: str, value: str = "v") -> Callable[[Any], Callable[[], object]]:
    def attempt(aws: Any) -> Callable[[], object]:
        volume = aws.volume()
        return lambda: aws.ec2.create_tags(Resources=[volume], Tags=[{"Key": key, "Value": value}])

    return attempt


def test_tag_reserved(refused: Prove) -> None:
    refused(tagging("aws:mine"))


def test_tag_key(refused: Prove) -> None:
    refused(tagging("k" * 129))


def test_tag_value(refused: Prove) -> None:
    refused(tagging("key", "v" * 257))


def test_a_volume_is_let_go_without_naming_the_instance(ours: Any) -> None:
    volume, instance = ours.volume(), ours.instance()
    attach(ours, volume, instance)
    assert ours.ec2.detach_volume(VolumeId=volume)["InstanceId"] == instance
    with pytest.raises(ours.ec2.exceptions.ClientError) as caught:
        ours.ec2.detach_volume(VolumeId=volume)
    assert caught.value.response["Error"]["Code"] == "IncorrectState"

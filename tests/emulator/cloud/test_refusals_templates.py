"""One test per row: launch templates, instance types, quotas, placement groups."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.engine
Prove = Callable[[Callable[[Any], Callable[[], object]]], None]


def made(**data: Any) -> Callable[[Any], Callable[[], object]]:
    """A template with these data is refused when it is made."""
    return lambda aws: lambda: aws.template(**data)


def used(**data: Any) -> Callable[[Any], Callable[[], object]]:
    """A template with these data is refused when a group uses it."""

    def attempt(aws: Any) -> Callable[[], object]:
        template = aws.template(**data)
        return lambda: aws.group(template)

    return attempt


def nic(card: int = 0, device: int = 0, **given: Any) -> dict[str, Any]:
    return {"NetworkCardIndex": card, "DeviceIndex": device} | given


def test_template_name(refused: Prove) -> None:
    data = {"ImageId": "ami-0abc0000000000001", "InstanceType": "g5.xlarge"}
    refused(
        lambda aws: (
            lambda: aws.ec2.create_launch_template(
                LaunchTemplateName=aws.name("x" * 127), LaunchTemplateData=data
            )
        )
    )


def test_template_base64(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        template = aws.template()
        return lambda: aws.ec2.create_launch_template_version(
            LaunchTemplateId=template, LaunchTemplateData={"UserData": "#!/bin/bash"}
        )

    refused(attempt)


def test_template_user_data(refused: Prove) -> None:
    refused(made(UserData=base64.b64encode(b"#" * 16_385).decode()))


def test_user_data_of_16384_raw_bytes_is_taken(ours: Any) -> None:
    assert ours.template(UserData=base64.b64encode(b"#" * 16_384).decode())


def test_template_hop_limit(refused: Prove) -> None:
    refused(made(MetadataOptions={"HttpPutResponseHopLimit": 99}))


def test_template_groups_twice(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        group = aws.ec2.describe_security_groups()["SecurityGroups"][0]["GroupId"]
        template = aws.template(SecurityGroupIds=[group], NetworkInterfaces=[nic(Groups=[group])])
        return lambda: aws.group(template)

    refused(attempt)


def test_template_public_address(refused: Prove) -> None:
    refused(used(NetworkInterfaces=[nic(AssociatePublicIpAddress=True), nic(device=1)]))


def test_template_efa_only_first(refused: Prove) -> None:
    efa = nic(InterfaceType="efa-only")
    refused(used(InstanceType="p4d.24xlarge", NetworkInterfaces=[efa]))


def test_template_market_type(refused: Prove) -> None:
    refused(used(InstanceMarketOptions={"MarketType": "capacity-block"}))


def test_a_capacity_block_needs_its_market_type(ours: Any, cloud: Any) -> None:
    given = {
        "region": "us-east-1",
        "instance_type": "p5.48xlarge",
        "zone": "us-east-1a",
        "count": 1,
        "hours": 24,
    }
    block = cloud.control("capacity-block", given)["id"]
    target = {"CapacityReservationTarget": {"CapacityReservationId": block}}
    plain = ours.template(InstanceType="p5.48xlarge", CapacityReservationSpecification=target)
    with pytest.raises(ours.autoscaling.exceptions.ClientError, match="market type"):
        ours.group(plain)
    market = {"MarketType": "capacity-block"}
    good = ours.template(
        InstanceType="p5.48xlarge", CapacityReservationSpecification=target, InstanceMarketOptions=market
    )
    assert ours.group(good)


def test_template_reservation(refused: Prove) -> None:
    target = {"CapacityReservationTarget": {"CapacityReservationId": "cr-0123456789abcdef0"}}
    refused(used(CapacityReservationSpecification=target))


def test_template_profile(refused: Prove) -> None:
    refused(used(IamInstanceProfile={"Name": "no-such-profile"}))


def test_template_image(refused: Prove) -> None:
    refused(used(ImageId="ami-0123456789abcdef0"))


def test_template_root_size(refused: Prove) -> None:
    refused(used(BlockDeviceMappings=[{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 30}}]))


def test_template_security_group(refused: Prove) -> None:
    refused(used(SecurityGroupIds=["sg-0123456789abcdef0"]))


def test_capacity_efa_count(refused: Prove) -> None:
    nics = [nic(), *(nic(device=number, InterfaceType="efa-only") for number in (1, 2))]
    refused(used(InstanceType="g5.8xlarge", NetworkInterfaces=nics))


def test_capacity_network_card(refused: Prove) -> None:
    refused(used(InstanceType="g5.8xlarge", NetworkInterfaces=[nic(), nic(card=1, device=1)]))


def test_capacity_architecture(refused: Prove) -> None:
    refused(used(InstanceType="g5g.xlarge"))


def test_run_count(refused: Prove) -> None:
    refused(
        lambda aws: (
            lambda: aws.ec2.run_instances(
                ImageId="ami-0abc0000000000001", InstanceType="g5.xlarge", MinCount=2, MaxCount=1
            )
        )
    )


def test_run_image(refused: Prove) -> None:
    refused(lambda aws: lambda: aws.instance(ImageId="ami-0123456789abcdef0"))


def test_run_type_not_in_zone(refused: Prove) -> None:
    refused(lambda aws: lambda: aws.instance("us-east-1e", InstanceType="g5.xlarge"))


def test_run_vcpu_quota(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        whole = {"ImageId": "ami-0abc0000000000001", "InstanceType": "g5.48xlarge"}
        return lambda: aws.ec2.run_instances(MinCount=1, MaxCount=5, SubnetId=aws.subnet(), **whole)

    refused(attempt)


def test_run_spot_quota(refused: Prove) -> None:
    market = {"MarketType": "spot"}
    refused(lambda aws: lambda: aws.instance(InstanceType="g5.12xlarge", InstanceMarketOptions=market))


def placement(**given: Any) -> Callable[[Any], Callable[[], object]]:
    return lambda aws: (
        lambda: aws.ec2.create_placement_group(
            **({"GroupName": aws.name("pg"), "Strategy": "cluster"} | given)
        )
    )


def test_placement_name(refused: Prove) -> None:
    refused(placement(GroupName="x" * 256))


def test_placement_partitions(refused: Prove) -> None:
    refused(placement(Strategy="partition", PartitionCount=8))


def test_placement_more_than_500(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        there = len(aws.ec2.describe_placement_groups()["PlacementGroups"])
        names = [aws.name("many") for _ in range(500 - there)]
        for name in names:
            aws.ec2.create_placement_group(GroupName=name, Strategy="spread")

        def one_more() -> None:
            try:
                aws.ec2.create_placement_group(GroupName=aws.name("many"), Strategy="spread")
            finally:
                for name in names:
                    aws.ec2.delete_placement_group(GroupName=name)

        return one_more

    refused(attempt)

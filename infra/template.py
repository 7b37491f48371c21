"""The arguments of a group's launch template: one function per topic, no resource."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_aws import ec2

from nightshift.plan.capacity import CapacityPlan


@dataclass(frozen=True)
class TemplateSpec:
    """What a node of the group is, from the stack file alone. Sizes in GiB."""

    name: str
    image: str
    root_device: str
    root_gib: int
    hop_limit: int
    key_name: str | None
    public_address: bool | None
    plan: CapacityPlan


def root_disk(spec: TemplateSpec) -> list[ec2.LaunchTemplateBlockDeviceMappingArgs]:
    """One encrypted gp3 disk that ends with the node; the template wants its switches as text."""
    return [
        ec2.LaunchTemplateBlockDeviceMappingArgs(
            device_name=spec.root_device,
            ebs=ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
                volume_size=spec.root_gib,
                volume_type="gp3",
                encrypted="true",
                delete_on_termination="true",
            ),
        )
    ]


def metadata(spec: TemplateSpec) -> ec2.LaunchTemplateMetadataOptionsArgs:
    """IMDSv2 only."""
    return ec2.LaunchTemplateMetadataOptionsArgs(
        http_endpoint="enabled",
        http_tokens="required",
        http_put_response_hop_limit=spec.hop_limit,
    )


def interfaces(
    spec: TemplateSpec, security_groups: Sequence[pulumi.Input[str]]
) -> list[ec2.LaunchTemplateNetworkInterfaceArgs]:
    """The cards of a node. A public address can be asked for on a lone interface only."""
    address = None if spec.public_address is None else str(spec.public_address).lower()
    return [
        ec2.LaunchTemplateNetworkInterfaceArgs(
            network_card_index=each.card,
            device_index=each.device,
            interface_type=each.kind,
            associate_public_ip_address=address if len(spec.plan.interfaces) == 1 else None,
            security_groups=list(security_groups),
            delete_on_termination="true",
        )
        for each in spec.plan.interfaces
    ]


def market(spec: TemplateSpec) -> ec2.LaunchTemplateInstanceMarketOptionsArgs | None:
    """A capacity block needs its market type besides the reservation, or AWS refuses the launch."""
    if spec.plan.reservation is None:
        return None
    return ec2.LaunchTemplateInstanceMarketOptionsArgs(market_type="capacity-block")


def reservation(spec: TemplateSpec) -> ec2.LaunchTemplateCapacityReservationSpecificationArgs | None:
    """The block that the nodes are taken from."""
    if spec.plan.reservation is None:
        return None
    return ec2.LaunchTemplateCapacityReservationSpecificationArgs(
        capacity_reservation_target=(
            ec2.LaunchTemplateCapacityReservationSpecificationCapacityReservationTargetArgs(
                capacity_reservation_id=spec.plan.reservation.reservation_id
            )
        )
    )


def placement(name: pulumi.Input[str] | None) -> ec2.LaunchTemplatePlacementArgs | None:
    """Close together, for groups whose nodes talk to each other."""
    return ec2.LaunchTemplatePlacementArgs(group_name=name) if name is not None else None


def tag_specifications(tags: dict[str, str]) -> list[ec2.LaunchTemplateTagSpecificationArgs]:
    """A group's own tags reach nodes, but not their root disks; the template's reach both."""
    return [
        ec2.LaunchTemplateTagSpecificationArgs(resource_type=kind, tags=tags)
        for kind in ("instance", "volume")
    ]

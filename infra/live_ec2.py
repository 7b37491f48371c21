"""What stands in EC2 under the site's tag, read in one call per kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from nightshift.plan import names
from nightshift.plan.volumes import LiveVolume, State

Raw = Mapping[str, Any]
_FILTER_VALUES = 200
"""EC2 takes at most 200 values in one filter."""
_STATES = frozenset(get_args(State))


@dataclass(frozen=True)
class LivePart:
    """A live resource that plays a part; `vpc`, `zone`, `cidr` and `strategy` where the kind has them."""

    part: str
    id: str
    kind: str
    vpc: str = ""
    zone: str = ""
    cidr: str = ""


@dataclass(frozen=True)
class LiveRule:
    """A rule of one of the site's security groups; ports -1 for all, `peer` a CIDR or a group's id."""

    id: str
    security_group: str
    egress: bool
    protocol: str
    from_port: int
    to_port: int
    peer: str


@dataclass(frozen=True)
class FoundVolume:
    """A live volume as `plan` wants it, and what only the program needs to know of it.

    `pooled` says that it was made for `per: node`.
    """

    volume: LiveVolume
    encrypted: bool
    pooled: bool = False


@dataclass(frozen=True)
class Kind:
    """How one kind of resource is listed: call, key of the answer, key of its import id."""

    operation: str
    items: str
    id: str
    filters: str = "Filters"
    dead: tuple[str, ...] = ()


KINDS = (
    Kind("describe_vpcs", "Vpcs", "VpcId"),
    Kind("describe_subnets", "Subnets", "SubnetId"),
    Kind("describe_internet_gateways", "InternetGateways", "InternetGatewayId"),
    Kind("describe_route_tables", "RouteTables", "RouteTableId"),
    Kind("describe_security_groups", "SecurityGroups", "GroupId"),
    Kind("describe_addresses", "Addresses", "AllocationId"),
    Kind("describe_nat_gateways", "NatGateways", "NatGatewayId", "Filter", ("deleting", "deleted", "failed")),
    Kind("describe_vpc_endpoints", "VpcEndpoints", "VpcEndpointId", dead=("deleting", "deleted", "failed")),
    Kind("describe_launch_templates", "LaunchTemplates", "LaunchTemplateId"),
    Kind("describe_placement_groups", "PlacementGroups", "GroupName", dead=("deleting", "deleted")),
)


def pages(client: Any, operation: str, **arguments: Any) -> Iterable[Raw]:
    """Every page of the answer."""
    if client.can_paginate(operation):
        return client.get_paginator(operation).paginate(**arguments)
    return [getattr(client, operation)(**arguments)]


def tag_filter(site: str) -> list[dict[str, object]]:
    """The filter for whatever carries the site's tag."""
    return [{"Name": f"tag:{names.TAG_SITE}", "Values": [site]}]


def read_kind(ec2: Any, kind: Kind, site: str) -> list[LivePart]:
    """The live resources of one kind that carry the site's tag and a part."""
    found = [
        _part(kind, item)
        for page in pages(ec2, kind.operation, **{kind.filters: tag_filter(site)})
        for item in page.get(kind.items, ())
    ]
    return [part for part in found if part is not None]


def _part(kind: Kind, item: Raw) -> LivePart | None:
    part = tags_of(item).get(names.TAG_PART)
    if part is None or str(item.get("State", "")).lower() in kind.dead:
        return None
    return LivePart(
        part=part,
        id=str(item[kind.id]),
        kind=kind.items,
        vpc=str(item.get("VpcId", "")),
        zone=str(item.get("AvailabilityZone", "")),
        cidr=str(item.get("CidrBlock", "")),
    )


def read_rules(ec2: Any, security_groups: Iterable[str]) -> list[LiveRule]:
    """The rules of the given security groups, tagged or not."""
    wanted = sorted(security_groups)
    batches = [wanted[at : at + _FILTER_VALUES] for at in range(0, len(wanted), _FILTER_VALUES)]
    return [
        _rule(item)
        for batch in batches
        for page in pages(
            ec2, "describe_security_group_rules", Filters=[{"Name": "group-id", "Values": batch}]
        )
        for item in page.get("SecurityGroupRules", ())
    ]


def _rule(item: Raw) -> LiveRule:
    peer = item.get("CidrIpv4") or item.get("ReferencedGroupInfo", {}).get("GroupId") or ""
    return LiveRule(
        id=str(item["SecurityGroupRuleId"]),
        security_group=str(item["GroupId"]),
        egress=bool(item["IsEgress"]),
        protocol=str(item["IpProtocol"]),
        from_port=int(item.get("FromPort", -1)),
        to_port=int(item.get("ToPort", -1)),
        peer=str(peer),
    )


def read_volumes(ec2: Any, site: str, adopted: Iterable[str]) -> list[FoundVolume]:
    """The site's named volumes, also those still being made, and the ones that the file adopts by id."""
    named = [*tag_filter(site), {"Name": "tag-key", "Values": [names.TAG_VOLUME]}]
    queries = [named]
    if ids := sorted(adopted):
        queries.append([{"Name": "volume-id", "Values": ids}])
    found = {
        str(item["VolumeId"]): _volume(item)
        for filters in queries
        for page in pages(ec2, "describe_volumes", Filters=filters)
        for item in page.get("Volumes", ())
    }
    return [volume for volume in found.values() if volume.volume.state in _STATES]


def _volume(item: Raw) -> FoundVolume:
    tags = tags_of(item)
    index = tags.get(names.TAG_INDEX, "0")
    volume = LiveVolume(
        id=str(item["VolumeId"]),
        name=tags.get(names.TAG_VOLUME, ""),
        index=int(index) if index.isdecimal() else 0,
        zone=str(item["AvailabilityZone"]),
        size_gib=int(item["Size"]),
        state=item["State"],
        site=tags.get(names.TAG_SITE),
    )
    return FoundVolume(volume, bool(item.get("Encrypted")), names.TAG_INDEX in tags)


def read_snapshots(ec2: Any, ids: Iterable[str]) -> dict[str, int]:
    """GiB of each of the given snapshots that exists and may be used."""
    wanted = sorted(ids)
    if not wanted:
        return {}
    filters = [{"Name": "snapshot-id", "Values": wanted}]
    return {
        str(item["SnapshotId"]): int(item["VolumeSize"])
        for page in pages(ec2, "describe_snapshots", Filters=filters)
        for item in page.get("Snapshots", ())
    }


def tags_of(item: Raw) -> dict[str, str]:
    """`Tags` as a dict."""
    return {str(tag["Key"]): str(tag["Value"]) for tag in item.get("Tags", ())}


def readers(ec2: Any, site: str) -> list[Callable[[], list[LivePart]]]:
    """One call per kind, each free to run in a thread of its own."""

    def reader(kind: Kind) -> Callable[[], list[LivePart]]:
        return lambda: read_kind(ec2, kind, site)

    return [reader(kind) for kind in KINDS]

"""What is still there after a destroy, kind by kind, as an independent client finds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nightshift.cli.verb_retire import RETIRED
from nightshift.plan import names
from nightshift.rehearsal.clients import Clients, listed

if TYPE_CHECKING:
    from nightshift.settings.models import Stack

_EC2_KINDS: Sequence[tuple[str, str, str]] = (
    ("describe_vpcs", "Vpcs", "VpcId"),
    ("describe_subnets", "Subnets", "SubnetId"),
    ("describe_route_tables", "RouteTables", "RouteTableId"),
    ("describe_internet_gateways", "InternetGateways", "InternetGatewayId"),
    ("describe_nat_gateways", "NatGateways", "NatGatewayId"),
    ("describe_addresses", "Addresses", "AllocationId"),
    ("describe_vpc_endpoints", "VpcEndpoints", "VpcEndpointId"),
    ("describe_security_groups", "SecurityGroups", "GroupId"),
    ("describe_network_interfaces", "NetworkInterfaces", "NetworkInterfaceId"),
    ("describe_placement_groups", "PlacementGroups", "GroupName"),
    ("describe_launch_templates", "LaunchTemplates", "LaunchTemplateName"),
    ("describe_snapshots", "Snapshots", "SnapshotId"),
    ("describe_volumes", "Volumes", "VolumeId"),
)
_DEAD = ("deleted", "deleting", "terminated", "shutting-down")


@dataclass(frozen=True)
class Left:
    """One thing that is still there; `kept` is whether the design keeps it."""

    kind: str
    id: str
    kept: bool

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


def left_after(stack: Stack, clients: Clients) -> list[Left]:
    """Everything of the site that can be found by tag or by name."""
    account = clients("sts").get_caller_identity()["Account"]
    data = names.bucket_name(stack.name, "data", account, stack.region)
    named = [
        Left(kind, name, (kind, name) == ("bucket", data)) for kind, name in _named(stack, clients, account)
    ]
    return [*_ec2(stack, clients("ec2")), *named]


def _ec2(stack: Stack, ec2: Any) -> Iterator[Left]:
    mine = [{"Name": f"tag:{names.TAG_SITE}", "Values": [stack.name]}]
    for operation, key, field in _EC2_KINDS:
        label = key[:-1].lower() if key != "Addresses" else "address"
        arguments = {"OwnerIds": ["self"]} if operation == "describe_snapshots" else {}
        for raw in listed(ec2, operation, key, Filters=mine, **arguments):
            if raw.get("State") in _DEAD:
                continue
            tags = {tag["Key"]: tag["Value"] for tag in raw.get("Tags", ())}
            volume = tags.get(names.TAG_VOLUME)
            kept = volume in stack.volumes if label == "volume" else label == "snapshot" and RETIRED in tags
            says = f" ({volume})" if volume and (label == "volume" or kept) else ""
            yield Left(label, f"{raw[field]}{says}", kept)
    for reservation in listed(ec2, "describe_instances", "Reservations", Filters=mine):
        for raw in reservation["Instances"]:
            if raw["State"]["Name"] not in _DEAD:
                yield Left("instance", raw["InstanceId"], False)


def _named(stack: Stack, clients: Clients, account: str) -> Iterator[tuple[str, str]]:
    """Things that are found by their names."""
    prefix = f"nightshift-{stack.name}"

    def mine(name: str) -> bool:
        return name == prefix or name.startswith((f"{prefix}-", f"{prefix}."))

    sources: tuple[tuple[str, list[str]], ...] = (
        (
            "group",
            _names(
                clients("autoscaling"),
                "describe_auto_scaling_groups",
                "AutoScalingGroups",
                "AutoScalingGroupName",
            ),
        ),
        ("role", _names(clients("iam"), "list_roles", "Roles", "RoleName")),
        (
            "profile",
            _names(clients("iam"), "list_instance_profiles", "InstanceProfiles", "InstanceProfileName"),
        ),
        ("bucket", _names(clients("s3"), "list_buckets", "Buckets", "Name")),
        ("alarm", _names(clients("cloudwatch"), "describe_alarms", "MetricAlarms", "AlarmName")),
        ("dashboard", _names(clients("cloudwatch"), "list_dashboards", "DashboardEntries", "DashboardName")),
        (
            "topic",
            [arn.rpartition(":")[2] for arn in _names(clients("sns"), "list_topics", "Topics", "TopicArn")],
        ),
        (
            "budget",
            _names(clients("budgets"), "describe_budgets", "Budgets", "BudgetName", AccountId=account),
        ),
    )
    for kind, found in sources:
        yield from ((kind, name) for name in found if mine(name))
    logs = _names(clients("logs"), "describe_log_groups", "logGroups", "logGroupName")
    yield from (("log group", name) for name in logs if name == names.log_group_name(stack.name))
    for policy in clients("dlm").get_lifecycle_policies()["Policies"]:
        if policy.get("Tags", {}).get(names.TAG_SITE) == stack.name:
            yield "snapshot policy", policy["PolicyId"]


def _names(client: Any, operation: str, key: str, field: str, **arguments: Any) -> list[str]:
    return [str(raw[field]) for raw in listed(client, operation, key, **arguments)]

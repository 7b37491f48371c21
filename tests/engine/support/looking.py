"""What an independent client finds in the cloud: plain values by boto3, nothing from the engine's state."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.engine.support.site import Deployed

ACCOUNT = "123456789012"
_EC2 = {
    "describe_vpcs": "Vpcs",
    "describe_subnets": "Subnets",
    "describe_route_tables": "RouteTables",
    "describe_internet_gateways": "InternetGateways",
    "describe_nat_gateways": "NatGateways",
    "describe_addresses": "Addresses",
    "describe_vpc_endpoints": "VpcEndpoints",
    "describe_security_groups": "SecurityGroups",
    "describe_security_group_rules": "SecurityGroupRules",
    "describe_network_interfaces": "NetworkInterfaces",
    "describe_placement_groups": "PlacementGroups",
    "describe_launch_templates": "LaunchTemplates",
    "describe_volumes": "Volumes",
    "describe_snapshots": "Snapshots",
}
_GONE = ("deleted", "terminated")
"""AWS shows some things for a while after their end."""


def everything(site: Deployed) -> dict[str, list[str]]:
    """The whole region and account, kind by kind, each thing as sorted JSON; AWS's own snapshots left out."""
    found = {kind: sorted(map(_text, things)) for kind, things in _kinds(site)}
    return {kind: things for kind, things in found.items() if things}


def counts(site: Deployed) -> dict[str, int]:
    """How many of each kind stand."""
    return {kind: len(things) for kind, things in everything(site).items()}


def _text(thing: Any) -> str:
    return json.dumps(thing, sort_keys=True, default=str)


def _kinds(site: Deployed) -> Iterator[tuple[str, list[Any]]]:
    ec2 = site.client("ec2")
    for operation, key in _EC2.items():
        owned = {"OwnerIds": ["self"]} if operation == "describe_snapshots" else {}
        yield key, [one for one in listed(ec2, operation, key, **owned) if one.get("State") not in _GONE]
    found = [node for each in listed(ec2, "describe_instances", "Reservations") for node in each["Instances"]]
    yield "Instances", [node for node in found if node["State"]["Name"] not in _GONE]
    versions = [
        version
        for template in listed(ec2, "describe_launch_templates", "LaunchTemplates")
        for version in ec2.describe_launch_template_versions(LaunchTemplateId=template["LaunchTemplateId"])[
            "LaunchTemplateVersions"
        ]
    ]
    yield "versions", versions
    yield from _scaling(site.client("autoscaling"))
    yield from _identities(site.client("iam"))
    yield from _buckets(site.client("s3"))
    yield from _watching(site)
    dlm = site.client("dlm")
    policies = [one["PolicyId"] for one in dlm.get_lifecycle_policies()["Policies"]]
    yield "snapshot policies", [dlm.get_lifecycle_policy(PolicyId=one)["Policy"] for one in policies]


def _scaling(client: Any) -> Iterator[tuple[str, list[Any]]]:
    groups = listed(client, "describe_auto_scaling_groups", "AutoScalingGroups")
    yield "groups", groups
    yield "actions", listed(client, "describe_scheduled_actions", "ScheduledUpdateGroupActions")
    yield "scaling policies", listed(client, "describe_policies", "ScalingPolicies")
    yield (
        "hooks",
        [
            hook
            for group in groups
            for hook in client.describe_lifecycle_hooks(AutoScalingGroupName=group["AutoScalingGroupName"])[
                "LifecycleHooks"
            ]
        ],
    )


def _identities(iam: Any) -> Iterator[tuple[str, list[Any]]]:
    roles = [
        role
        for role in listed(iam, "list_roles", "Roles")
        if not role["Path"].startswith("/aws-service-role")
    ]
    yield "roles", roles
    yield "profiles", listed(iam, "list_instance_profiles", "InstanceProfiles")
    yield (
        "role policies",
        [
            {key: value for key, value in one.items() if key != "ResponseMetadata"}
            for role in roles
            for name in listed(iam, "list_role_policies", "PolicyNames", RoleName=role["RoleName"])
            for one in [iam.get_role_policy(RoleName=role["RoleName"], PolicyName=name)]
        ],
    )


def _buckets(s3: Any) -> Iterator[tuple[str, list[Any]]]:
    buckets = [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]
    yield "buckets", buckets
    yield (
        "objects",
        [
            (bucket, item["Key"], item["ETag"])
            for bucket in buckets
            for item in listed(s3, "list_objects_v2", "Contents", Bucket=bucket)
        ],
    )


def _watching(site: Deployed) -> Iterator[tuple[str, list[Any]]]:
    watch = site.client("cloudwatch")
    yield "log groups", listed(site.client("logs"), "describe_log_groups", "logGroups")
    yield "alarms", listed(watch, "describe_alarms", "MetricAlarms")
    yield (
        "dashboards",
        [
            watch.get_dashboard(DashboardName=one["DashboardName"])["DashboardBody"]
            for one in listed(watch, "list_dashboards", "DashboardEntries")
        ],
    )
    sns = site.client("sns")
    yield "topics", listed(sns, "list_topics", "Topics")
    yield "subscriptions", listed(sns, "list_subscriptions", "Subscriptions")
    yield "budgets", site.client("budgets").describe_budgets(AccountId=ACCOUNT).get("Budgets", [])


def listed(client: Any, operation: str, key: str, **arguments: Any) -> list[Any]:
    """All pages of a list."""
    if not client.can_paginate(operation):
        return getattr(client, operation)(**arguments).get(key, [])
    pages = client.get_paginator(operation).paginate(**arguments)
    return [item for page in pages for item in page.get(key, [])]


def tags_of(thing: Any) -> dict[str, str]:
    """A thing's tags by key."""
    return {tag["Key"]: tag["Value"] for tag in thing.get("Tags", ())}


def volumes(site: Deployed) -> dict[str, Any]:
    """The site's volumes as `name`, or `name-index` in a pool."""
    found = {}
    for volume in listed(site.client("ec2"), "describe_volumes", "Volumes"):
        tags = tags_of(volume)
        if tags.get("nightshift:site") == site.name and "nightshift:volume" in tags:
            index = tags.get("nightshift:index")
            label = tags["nightshift:volume"] + (f"-{index}" if index else "")
            assert label not in found, f"two live volumes {label}"
            found[label] = volume
    return found


def volume_ids(site: Deployed) -> dict[str, str]:
    """The ids of the site's volumes."""
    return {label: volume["VolumeId"] for label, volume in volumes(site).items()}


def group(site: Deployed, name: str) -> Any:
    """A group as it stands."""
    (found,) = site.client("autoscaling").describe_auto_scaling_groups(
        AutoScalingGroupNames=[f"nightshift-{site.name}.{name}"]
    )["AutoScalingGroups"]
    return found


def actions(site: Deployed, name: str) -> dict[str, Any]:
    """A group's scheduled actions as they stand."""
    found = listed(
        site.client("autoscaling"),
        "describe_scheduled_actions",
        "ScheduledUpdateGroupActions",
        AutoScalingGroupName=f"nightshift-{site.name}.{name}",
    )
    return {action["ScheduledActionName"]: action for action in found}


def starts(site: Deployed, name: str) -> dict[str, str]:
    """When each action fires next: its StartTime, UTC."""
    return {key: f"{action['StartTime']:%Y-%m-%dT%H:%MZ}" for key, action in actions(site, name).items()}


def template(site: Deployed, name: str) -> tuple[str, Any]:
    """Version and data of the launch template that a group starts nodes from."""
    chosen = group(site, name)["MixedInstancesPolicy"]["LaunchTemplate"]["LaunchTemplateSpecification"]
    (found,) = site.client("ec2").describe_launch_template_versions(
        LaunchTemplateId=chosen["LaunchTemplateId"], Versions=[chosen["Version"]]
    )["LaunchTemplateVersions"]
    return chosen["Version"], found["LaunchTemplateData"]


def state_of_nodes(site: Deployed, name: str) -> list[str]:
    """The lifecycle states of a group's nodes."""
    return sorted(node["LifecycleState"] for node in group(site, name)["Instances"])

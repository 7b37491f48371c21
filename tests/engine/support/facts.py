"""The facts of a deployed shipped stack, each read by boto3 and held against what its file means."""

from __future__ import annotations

import json
from typing import Any

from tests.engine.support.looking import ACCOUNT, actions, group, listed, tags_of, template, volumes
from tests.engine.support.site import Deployed
from tests.engine.support.wanted import STACKS, Wanted, WantedGroup

TARGET = "nightshift:snapshots"


def check_all(site: Deployed) -> None:
    """Every fact of the stack that bears the site's name."""
    wanted = STACKS[site.name]
    for name, each in wanted.groups.items():
        _actions(site, name, each, wanted.timezone)
        _hooks(site, name, each)
        _sizes_and_types(site, name, each)
        _template(site, name, each, wanted)
    _volumes(site, wanted)
    _policies(site, wanted)
    _only_volumes_bear_the_target(site, wanted)
    _nothing_comes_in(site)
    _buckets(site)
    _roles(site, wanted)
    _watching(site, wanted)
    _network(site, wanted)


def _actions(site: Deployed, name: str, wanted: WantedGroup, timezone: str) -> None:
    found = actions(site, name)
    assert {key: (one["Recurrence"], one["DesiredCapacity"]) for key, one in found.items()} == wanted.actions
    for action in found.values():
        assert action["TimeZone"] == timezone
        assert "MinSize" not in action
        assert "MaxSize" not in action
        assert "EndTime" not in action


def _hooks(site: Deployed, name: str, wanted: WantedGroup) -> None:
    answer = site.client("autoscaling").describe_lifecycle_hooks(
        AutoScalingGroupName=f"nightshift-{site.name}.{name}"
    )
    found = {
        one["LifecycleHookName"]: (
            one["LifecycleTransition"].removeprefix("autoscaling:EC2_INSTANCE_"),
            one["HeartbeatTimeout"],
            one["DefaultResult"],
        )
        for one in answer["LifecycleHooks"]
    }
    assert found == {
        "ready": ("LAUNCHING", wanted.boot_s, "ABANDON"),
        "drain": ("TERMINATING", 120, "CONTINUE"),
    }


def _sizes_and_types(site: Deployed, name: str, wanted: WantedGroup) -> None:
    found = group(site, name)
    assert (found["MinSize"], found["MaxSize"], found["DesiredCapacity"]) == (0, wanted.nodes, 0)
    assert found["CapacityRebalance"] is False
    assert found["AvailabilityZones"] == [STACKS[site.name].zone]
    policy = found["MixedInstancesPolicy"]
    assert [one["InstanceType"] for one in policy["LaunchTemplate"]["Overrides"]] == wanted.types
    spread = policy["InstancesDistribution"]
    assert spread["OnDemandAllocationStrategy"] == "prioritized"
    assert spread["SpotAllocationStrategy"] == "capacity-optimized-prioritized"
    assert spread["OnDemandBaseCapacity"] == 0
    assert spread["OnDemandPercentageAboveBaseCapacity"] == 100 - wanted.spot


def _template(site: Deployed, name: str, wanted: WantedGroup, stack: Wanted) -> None:
    version, data = template(site, name)
    assert version == "1"
    assert data["ImageId"] == stack.image
    metadata = data["MetadataOptions"]
    assert (metadata["HttpTokens"], metadata["HttpEndpoint"]) == ("required", "enabled")
    assert metadata["HttpPutResponseHopLimit"] == wanted.hop_limit
    (disk,) = data["BlockDeviceMappings"]
    assert disk["DeviceName"] == "/dev/sda1"
    assert disk["Ebs"]["Encrypted"] is True
    assert disk["Ebs"]["DeleteOnTermination"] is True
    assert (disk["Ebs"]["VolumeSize"], disk["Ebs"]["VolumeType"]) == (wanted.root_gib, "gp3")
    assert len({one.get("NetworkCardIndex", 0) for one in data["NetworkInterfaces"]}) == wanted.cards
    assert "KeyName" not in data
    for tags in data["TagSpecifications"]:
        assert TARGET not in tags_of(tags)


def _volumes(site: Deployed, wanted: Wanted) -> None:
    found = volumes(site)
    measured = {
        label: (one["Size"], one["Iops"], one["Throughput"], tags_of(one).get(TARGET))
        for label, one in found.items()
    }
    expected = {
        label: (size, iops, throughput, f"{site.name}.{policy}" if policy else None)
        for label, (size, iops, throughput, policy) in wanted.volumes.items()
    }
    assert measured == expected
    for volume in found.values():
        assert volume["Encrypted"] is True
        assert volume["VolumeType"] == "gp3"
        assert volume["AvailabilityZone"] == wanted.zone
        assert tags_of(volume)["nightshift:owner"] == wanted.owner


def _policies(site: Deployed, wanted: Wanted) -> None:
    dlm = site.client("dlm")
    found = {}
    for summary in dlm.get_lifecycle_policies()["Policies"]:
        policy = dlm.get_lifecycle_policy(PolicyId=summary["PolicyId"])["Policy"]
        if policy["Tags"].get("nightshift:site") != site.name:
            continue
        assert policy["State"] == "ENABLED"
        assert policy["PolicyDetails"]["ResourceTypes"] == ["VOLUME"]
        (target,) = policy["PolicyDetails"]["TargetTags"]
        (schedule,) = policy["PolicyDetails"]["Schedules"]
        rule = schedule["CreateRule"]
        assert (rule["Interval"], rule["IntervalUnit"]) == (24, "HOURS")
        assert target["Key"] == TARGET
        found[target["Value"]] = (rule["Times"], schedule["RetainRule"]["Count"])
    assert found == {f"{site.name}.{name}": ([at], keep) for name, (at, keep) in wanted.policies.items()}


def _only_volumes_bear_the_target(site: Deployed, wanted: Wanted) -> None:
    ec2 = site.client("ec2")
    found = listed(ec2, "describe_tags", "Tags", Filters=[{"Name": "key", "Values": [TARGET]}])
    bearers = {one["ResourceId"] for one in found if one["Value"].startswith(f"{site.name}.")}
    named = {label for label, (*_, policy) in wanted.volumes.items() if policy}
    assert bearers == {one["VolumeId"] for label, one in volumes(site).items() if label in named}
    assert {one["ResourceType"] for one in found} <= {"volume"}
    for what, keys in _other_tags(site).items():
        assert TARGET not in keys, what


def _other_tags(site: Deployed) -> dict[str, set[str]]:
    """Tag keys of everything outside EC2, by name."""
    found: dict[str, set[str]] = {}
    for tag in listed(site.client("autoscaling"), "describe_tags", "Tags"):
        found.setdefault(tag["ResourceId"], set()).add(tag["Key"])
    iam, s3, sns = site.client("iam"), site.client("s3"), site.client("sns")
    for role in _ours(listed(iam, "list_roles", "Roles"), "RoleName", site):
        found[role] = {tag["Key"] for tag in iam.list_role_tags(RoleName=role)["Tags"]}
    for bucket in _ours(s3.list_buckets()["Buckets"], "Name", site):
        found[bucket] = {tag["Key"] for tag in s3.get_bucket_tagging(Bucket=bucket)["TagSet"]}
    for topic in listed(sns, "list_topics", "Topics"):
        arn = topic["TopicArn"]
        found[arn] = {tag["Key"] for tag in sns.list_tags_for_resource(ResourceArn=arn)["Tags"]}
    watch = site.client("cloudwatch")
    for alarm in listed(watch, "describe_alarms", "MetricAlarms"):
        arn = alarm["AlarmArn"]
        found[arn] = {tag["Key"] for tag in watch.list_tags_for_resource(ResourceARN=arn)["Tags"]}
    for policy in site.client("dlm").get_lifecycle_policies()["Policies"]:
        found[policy["PolicyId"]] = set(policy.get("Tags", {}))
    assert len(found) >= 8
    return found


def _ours(things: list[Any], key: str, site: Deployed) -> list[str]:
    return [thing[key] for thing in things if thing[key].startswith(f"nightshift-{site.name}-")]


def _nothing_comes_in(site: Deployed) -> None:
    """Every fence of the site's VPC, its default one too: only members of a fence may come into it."""
    ec2 = site.client("ec2")
    fences = listed(ec2, "describe_security_groups", "SecurityGroups", Filters=_of(site))
    assert fences
    (vpc,) = {fence["VpcId"] for fence in fences}
    for fence in listed(
        ec2, "describe_security_groups", "SecurityGroups", Filters=[{"Name": "vpc-id", "Values": [vpc]}]
    ):
        for rule in fence["IpPermissions"]:
            assert not rule.get("IpRanges")
            assert not rule.get("Ipv6Ranges")
            assert not rule.get("PrefixListIds")
            assert {pair["GroupId"] for pair in rule["UserIdGroupPairs"]} == {fence["GroupId"]}


def _of(site: Deployed) -> list[dict[str, Any]]:
    return [{"Name": "tag:nightshift:site", "Values": [site.name]}]


def _buckets(site: Deployed) -> None:
    s3 = site.client("s3")
    names = _ours(s3.list_buckets()["Buckets"], "Name", site)
    assert sorted(name.split("-")[-2] for name in names) == ["artifacts", "data"]
    for name in names:
        block = s3.get_public_access_block(Bucket=name)["PublicAccessBlockConfiguration"]
        assert block == dict.fromkeys(
            ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"), True
        )
        (rule,) = s3.get_bucket_encryption(Bucket=name)["ServerSideEncryptionConfiguration"]["Rules"]
        assert rule["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
        (owner,) = s3.get_bucket_ownership_controls(Bucket=name)["OwnershipControls"]["Rules"]
        assert owner["ObjectOwnership"] == "BucketOwnerEnforced"
        (statement,) = json.loads(s3.get_bucket_policy(Bucket=name)["Policy"])["Statement"]
        assert (statement["Effect"], statement["Principal"], statement["Action"]) == ("Deny", "*", "s3:*")
        assert set(statement["Resource"]) == {f"arn:aws:s3:::{name}", f"arn:aws:s3:::{name}/*"}
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def _roles(site: Deployed, wanted: Wanted) -> None:
    """One role a group, one for the snapshots, none with a policy that AWS wrote."""
    iam = site.client("iam")
    roles = _ours(listed(iam, "list_roles", "Roles"), "RoleName", site)
    assert len(roles) == len(wanted.groups) + bool(wanted.policies)
    for role in roles:
        assert iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"] == []


def _watching(site: Deployed, wanted: Wanted) -> None:
    (logs,) = [
        one
        for one in listed(site.client("logs"), "describe_log_groups", "logGroups")
        if one["logGroupName"] == f"/nightshift/{site.name}"
    ]
    assert logs["retentionInDays"] == wanted.log_days
    alarms = [
        one["AlarmName"]
        for one in listed(site.client("cloudwatch"), "describe_alarms", "MetricAlarms")
        if one["AlarmName"].startswith(f"nightshift-{site.name}.")
    ]
    ends = ("no-capacity", "not-ready", "stuck")
    assert sorted(alarms) == sorted(
        f"nightshift-{site.name}.{name}-{end}" for name in wanted.groups for end in ends
    )
    mails = [
        one["Endpoint"]
        for one in listed(site.client("sns"), "list_subscriptions", "Subscriptions")
        if one["TopicArn"].endswith(f":nightshift-{site.name}")
    ]
    assert sorted(mails) == wanted.mails
    budgets = site.client("budgets").describe_budgets(AccountId=ACCOUNT)["Budgets"]
    mine = [one for one in budgets if f"-{site.name}" in one["BudgetName"]]
    assert [float(one["BudgetLimit"]["Amount"]) for one in mine] == [
        float(site.base["site"]["budget"]["monthly_usd"])
    ]


def _network(site: Deployed, wanted: Wanted) -> None:
    ec2 = site.client("ec2")
    gateways = listed(ec2, "describe_nat_gateways", "NatGateways", Filters=_of(site))
    assert len(gateways) == wanted.nat_gateways
    zones = {one["AvailabilityZone"] for one in listed(ec2, "describe_subnets", "Subnets", Filters=_of(site))}
    assert zones == {wanted.zone}
    (gate,) = listed(ec2, "describe_vpc_endpoints", "VpcEndpoints", Filters=_of(site))
    assert (gate["VpcEndpointType"], gate["ServiceName"]) == ("Gateway", f"com.amazonaws.{wanted.region}.s3")

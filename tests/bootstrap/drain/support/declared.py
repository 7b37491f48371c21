"""What the program declares for one group, made by hand on the emulated AWS: role, buckets, volume, hooks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bootstrap.start.config import NodeConfig
from infra.policies import NodeScope, node_policy, node_trust
from nightshift.plan import names

REGION, ZONE, ACCOUNT, TYPE = "us-east-1", "us-east-1a", "123456789012", "g6.2xlarge"
IMAGE = "ami-0abc0000000000001"
SITE, GROUP, VOLUME = "lab", "vit", "runs"
ASG = names.group_name(SITE, GROUP)
DATA, ARTIFACTS = (names.bucket_name(SITE, kind, ACCOUNT, REGION) for kind in ("data", "artifacts"))
LOGS = names.log_group_name(SITE)
MANIFEST_KEY = f"groups/{GROUP}/manifest.json"
Clients = Callable[[str], Any]
"""An operator's client of a service."""


def declare_group(client: Clients, endpoint: str) -> NodeConfig:
    """Make everything; what user data would leave on a node."""
    for bucket in (DATA, ARTIFACTS):
        client("s3").create_bucket(Bucket=bucket)
    client("logs").create_log_group(logGroupName=LOGS)
    _volume(client)
    _group(client, _profile(client))
    return NodeConfig(
        site=SITE,
        group=GROUP,
        group_name=ASG,
        region=REGION,
        suffix="amazonaws.com",
        bucket=ARTIFACTS,
        data_bucket=DATA,
        manifest_key=MANIFEST_KEY,
        artifact_key="bootstrap/0.zip",
        artifact_sha256="0",
        hook=names.HOOK_READY,
        endpoint=endpoint,
    )


def _volume(client: Clients) -> None:
    tags = [{"Key": key, "Value": text} for key, text in names.volume_tags(SITE, VOLUME, "us").items()]
    client("ec2").create_volume(
        AvailabilityZone=ZONE,
        Size=1,
        VolumeType="gp3",
        Encrypted=True,
        TagSpecifications=[{"ResourceType": "volume", "Tags": tags}],
    )


def _profile(client: Clients) -> str:
    """The node's role with the program's own policy, and its profile."""
    iam, name = client("iam"), names.role_name(SITE, REGION, GROUP)
    scope = NodeScope(SITE, GROUP, REGION, ACCOUNT, ASG, DATA, ARTIFACTS, LOGS, volumes=(VOLUME,))
    iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(node_trust()))
    iam.put_role_policy(RoleName=name, PolicyName="node", PolicyDocument=json.dumps(node_policy(scope)))
    iam.create_instance_profile(InstanceProfileName=name)
    iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=name)
    return name


def _group(client: Clients, profile: str) -> None:
    ec2, scaling = client("ec2"), client("autoscaling")
    subnets = ec2.describe_subnets(Filters=[{"Name": "availability-zone", "Values": [ZONE]}])["Subnets"]
    data = {"ImageId": IMAGE, "InstanceType": TYPE, "IamInstanceProfile": {"Name": profile}}
    ec2.create_launch_template(LaunchTemplateName=ASG, LaunchTemplateData=data)
    tags = [
        {"Key": key, "Value": text, "PropagateAtLaunch": True}
        for key, text in names.node_tags(SITE, GROUP, "us").items()
    ]
    scaling.create_auto_scaling_group(
        AutoScalingGroupName=ASG,
        MinSize=0,
        MaxSize=1,
        DesiredCapacity=0,
        LaunchTemplate={"LaunchTemplateName": ASG, "Version": "1"},
        VPCZoneIdentifier=subnets[0]["SubnetId"],
        Tags=tags,
    )
    for hook, transition, result, seconds in (
        (names.HOOK_READY, "LAUNCHING", "ABANDON", 300),
        (names.HOOK_DRAIN, "TERMINATING", "CONTINUE", 120),
    ):
        scaling.put_lifecycle_hook(
            LifecycleHookName=hook,
            AutoScalingGroupName=ASG,
            LifecycleTransition=f"autoscaling:EC2_INSTANCE_{transition}",
            DefaultResult=result,
            HeartbeatTimeout=seconds,
        )

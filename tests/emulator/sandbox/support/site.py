"""A deployed site as one node sees it, made with the program's own functions but without an engine."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from bootstrap.artifact import Artifact
from infra.artifacts import manifest_key
from infra.boot import boot_manifest, user_data_b64
from infra.identity import identity_spec
from infra.node_group import DRAIN_HEARTBEAT_S
from infra.options import SiteContext
from infra.policies import node_policy, node_trust, to_json
from nightshift.plan import names
from nightshift.rehearsal.clients import clients_of
from nightshift.settings.models import Stack
from nightshift.settings.reading import read_stack
from nightshift.settings.to_plan import capacity_plan

ACCOUNT, GROUP = "123456789012", "train"
STACK = """
config:
  aws:region: us-east-1
  nightshift:site:
    zone: us-east-1a
    timezone: Etc/UTC
    owner: boots
    image: ami-0abc0000000000001
    budget: { monthly_usd: 100, notify: [boots@example.org] }
  nightshift:volumes:
    runs: { size_gib: 1 }
  nightshift:groups:
    train:
      types: [KIND]
      capacity: on-demand
      shifts: [{ days: [mon, tue, wed, thu, fri, sat, sun], from: "00:00", to: "00:00" }]
      volumes: [runs]
      runtime: RUNTIME
      notebook: false
"""


@dataclass(frozen=True)
class Site:
    """One group of one node on the emulated AWS at `endpoint`."""

    endpoint: str
    stack: Stack
    artifact: Artifact

    @cached_property
    def aws(self) -> Callable[[str], Any]:
        """The operator's clients."""
        return clients_of(self.endpoint, self.stack.region)

    @property
    def context(self) -> SiteContext:
        """As the program has it."""
        site = self.stack.site
        return SiteContext(self.stack.name, self.stack.region, ACCOUNT, site.zone, site.owner)

    @property
    def group_name(self) -> str:
        """The Auto Scaling group."""
        return names.group_name(self.stack.name, GROUP)

    @property
    def data_bucket(self) -> str:
        """Where records lie."""
        return names.bucket_name(self.stack.name, "data", ACCOUNT, self.stack.region)

    def instances(self) -> dict[str, str]:
        """The group's instances with their lifecycle states."""
        found = self.aws("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[self.group_name])
        members = found["AutoScalingGroups"][0]["Instances"]
        return {each["InstanceId"]: each["LifecycleState"] for each in members}

    def size(self, desired: int) -> list[str]:
        """Set the group's desired size; its instances."""
        self.aws("autoscaling").set_desired_capacity(
            AutoScalingGroupName=self.group_name, DesiredCapacity=desired
        )
        return sorted(self.instances())

    def end(self, instance_id: str) -> None:
        """End an instance without a drain."""
        self.aws("ec2").terminate_instances(InstanceIds=[instance_id])

    def store(self) -> None:
        """What the program puts into the artifacts bucket."""
        self.put(self.artifact.key, self.artifact.path.read_bytes())
        self.put(manifest_key(GROUP), self.manifest().encode())

    def manifest(self, **changed: Any) -> str:
        """The group's boot manifest, as the program writes it."""
        plan = capacity_plan(self.stack.region, self.stack.groups[GROUP])
        return replace(boot_manifest(self.stack, GROUP, plan, self.context), **changed).to_json()

    def put(self, key: str, body: bytes) -> None:
        """An object of the artifacts bucket."""
        self.aws("s3").put_object(Bucket=self.artifacts_bucket, Key=key, Body=body)

    def remove(self, key: str) -> None:
        """An object of the artifacts bucket is gone."""
        self.aws("s3").delete_object(Bucket=self.artifacts_bucket, Key=key)

    @property
    def artifacts_bucket(self) -> str:
        """Where artifact and manifest lie."""
        return names.bucket_name(self.stack.name, "artifacts", ACCOUNT, self.stack.region)

    def user_data(self) -> str:
        """The text in the group's launch template."""
        found = self.aws("ec2").describe_launch_template_versions(
            LaunchTemplateName=self.group_name, Versions=["$Latest"]
        )
        data = found["LaunchTemplateVersions"][0]["LaunchTemplateData"]["UserData"]
        return base64.b64decode(data).decode()

    def records(self, name: str) -> dict[str, str]:
        """Texts of the records `nodes/*/NAME` by instance."""
        s3 = self.aws("s3")
        listed = s3.list_objects_v2(Bucket=self.data_bucket, Prefix="nodes/").get("Contents", ())
        keys = [each["Key"] for each in listed if each["Key"].endswith(f"/{name}")]
        bodies = [s3.get_object(Bucket=self.data_bucket, Key=key)["Body"] for key in keys]
        texts = [body.read().decode() for body in bodies]
        return {key.split("/")[1].partition(":")[2]: text for key, text in zip(keys, texts, strict=True)}

    def tags(self, instance_id: str) -> dict[str, str]:
        """An instance's tags."""
        filters = [{"Name": "resource-id", "Values": [instance_id]}]
        return {each["Key"]: each["Value"] for each in self.aws("ec2").describe_tags(Filters=filters)["Tags"]}


def stack(folder: Path, kind: str = "g6.xlarge", runtime: str = "cpu", name: str = "boots") -> Stack:
    """The stack file's one."""
    file = folder / f"Pulumi.{name}.yaml"
    file.write_text(yaml.safe_dump(yaml.safe_load(STACK.replace("KIND", kind).replace("RUNTIME", runtime))))
    return read_stack(file)


def deploy(endpoint: str, wanted: Stack, artifact: Artifact) -> Site:
    """Buckets, role, volume, template, group and hooks, as the program declares them."""
    site = Site(endpoint, wanted, artifact)
    _store(site)
    profile = _identity(site)
    _volume(site)
    _group(site, profile)
    return site


def _store(site: Site) -> None:
    for bucket in (site.data_bucket, site.artifacts_bucket):
        site.aws("s3").create_bucket(Bucket=bucket)
    site.store()


def _identity(site: Site) -> str:
    """The instance profile's ARN."""
    spec = identity_spec(site.stack, GROUP, site.context)
    iam, name = site.aws("iam"), spec.role_name
    iam.create_role(RoleName=name, AssumeRolePolicyDocument=to_json(node_trust()))
    iam.put_role_policy(RoleName=name, PolicyName="node", PolicyDocument=to_json(node_policy(spec.scope)))
    made = iam.create_instance_profile(InstanceProfileName=name)
    iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=name)
    return str(made["InstanceProfile"]["Arn"])


def _listed(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def _volume(site: Site) -> None:
    for name, volume in site.stack.volumes.items():
        tags = names.volume_tags(site.stack.name, name, site.stack.site.owner)
        site.aws("ec2").create_volume(
            AvailabilityZone=site.stack.site.zone,
            Size=volume.size_gib,
            VolumeType="gp3",
            TagSpecifications=[{"ResourceType": "volume", "Tags": _listed(tags)}],
        )


def _group(site: Site, profile: str) -> None:
    ec2, scaling, name = site.aws("ec2"), site.aws("autoscaling"), site.group_name
    group = site.stack.groups[GROUP]
    plan = capacity_plan(site.stack.region, group)
    tags = names.node_tags(site.stack.name, GROUP, site.stack.site.owner)
    data = {
        "ImageId": site.stack.site.image,
        "InstanceType": plan.types[0],
        "UserData": user_data_b64(site.context, GROUP, site.artifact, site.endpoint),
        "IamInstanceProfile": {"Arn": profile},
        "InstanceInitiatedShutdownBehavior": "terminate",
        "TagSpecifications": [{"ResourceType": "instance", "Tags": _listed(tags)}],
    }
    ec2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData=data)
    zone = [{"Name": "availability-zone", "Values": [site.stack.site.zone]}]
    scaling.create_auto_scaling_group(
        AutoScalingGroupName=name,
        MinSize=0,
        MaxSize=100,
        VPCZoneIdentifier=ec2.describe_subnets(Filters=zone)["Subnets"][0]["SubnetId"],
        LaunchTemplate={"LaunchTemplateName": name, "Version": "$Latest"},
        Tags=[{**each, "PropagateAtLaunch": True} for each in _listed(tags)],
    )
    _hook(scaling, name, names.HOOK_READY, "LAUNCHING", "ABANDON", 900)
    _hook(scaling, name, names.HOOK_DRAIN, "TERMINATING", "CONTINUE", DRAIN_HEARTBEAT_S)


def _hook(scaling: Any, group: str, name: str, when: str, otherwise: str, seconds: int) -> None:
    scaling.put_lifecycle_hook(
        AutoScalingGroupName=group,
        LifecycleHookName=name,
        LifecycleTransition=f"autoscaling:EC2_INSTANCE_{when}",
        DefaultResult=otherwise,
        HeartbeatTimeout=seconds,
    )

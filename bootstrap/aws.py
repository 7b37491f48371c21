"""The node's only edge to boto3: each call that the role allows, by what it is for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from bootstrap.start.config import NodeConfig
from bootstrap.storage.order import LiveVolume
from nightshift.plan import names

_CONFIG = Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard", "max_attempts": 8})
REASON_CHARS = 256
"""Longest value of a tag (EC2)."""
AwsError = (BotoCoreError, ClientError)


def refusal(error: Exception) -> tuple[str, str]:
    """Code and message of what AWS refused; an empty code when it wasn't reached or didn't answer."""
    if isinstance(error, ClientError):
        told = error.response.get("Error", {})
        return str(told.get("Code", "unknown")), str(told.get("Message", ""))
    return "", str(error)


class NodeAws:
    """AWS for one node. Every method raises one of AwsError when AWS refuses or can't be reached."""

    def __init__(self, config: NodeConfig, instance_id: str) -> None:
        self._config = config
        self._instance_id = instance_id
        self._session = boto3.session.Session(region_name=config.region)
        self._made: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        """The client of one of the artifact's services, made once."""
        if service not in self._made:
            endpoint = self._config.endpoint or None
            self._made[service] = self._session.client(  # ty: ignore[no-matching-overload]
                service, endpoint_url=endpoint, config=_CONFIG
            )
        return self._made[service]

    def read_manifest(self) -> str:
        """The text of the group's boot manifest."""
        where = {"Bucket": self._config.bucket, "Key": self._config.manifest_key}
        return self.client("s3").get_object(**where)["Body"].read().decode("utf-8")

    def user_id(self) -> str:
        """`aws:userid` of this node, `AROA...:i-...`: the name of its own folder in the data bucket."""
        return str(self.client("sts").get_caller_identity()["UserId"])

    def count_failed_boot(self) -> None:
        """One more failed boot of the group; three within an hour stop it."""
        dimensions = [
            {"Name": names.DIMENSION_SITE, "Value": self._config.site},
            {"Name": names.DIMENSION_GROUP, "Value": self._config.group},
        ]
        datum = {
            "MetricName": names.METRIC_BOOT_FAILED,
            "Value": 1,
            "Unit": "Count",
            "Dimensions": dimensions,
        }
        self.client("cloudwatch").put_metric_data(Namespace=names.METRIC_NAMESPACE, MetricData=[datum])

    def tag_itself(self, readiness: str, reason: str) -> None:
        """The verdict as tags of this instance, for people who look at the console."""
        pairs = {"nightshift:readiness": readiness, "nightshift:reason": reason[:REASON_CHARS]}
        tags = [{"Key": key, "Value": value} for key, value in pairs.items()]
        self.client("ec2").create_tags(Resources=[self._instance_id], Tags=tags)

    def complete_launch(self, result: str) -> None:
        """CONTINUE or ABANDON; a launch that nobody waits for any more is complete already."""
        try:
            self.client("autoscaling").complete_lifecycle_action(
                LifecycleHookName=self._config.hook,
                AutoScalingGroupName=self._config.group_name,
                InstanceId=self._instance_id,
                LifecycleActionResult=result,
            )
        except ClientError as error:
            if "No active Lifecycle Action" not in str(error):
                raise

    def site_volumes(self, volumes: Sequence[str]) -> list[LiveVolume]:
        """The site's volumes of these names, as EC2 describes them now."""
        wanted = {f"tag:{names.TAG_SITE}": [self._config.site], f"tag:{names.TAG_VOLUME}": list(volumes)}
        return [_live(each) for each in self._volumes(wanted)]

    def taken_devices(self) -> set[str]:
        """Device names of everything attached to this instance, its root among them."""
        found = self._volumes({"attachment.instance-id": [self._instance_id]})
        return {str(one["Device"]) for each in found for one in each.get("Attachments", ())}

    def attach_volume(self, volume_id: str, device: str) -> None:
        """Begin to attach a volume to this instance. VolumeInUse when somebody else has it: the lock."""
        self.client("ec2").attach_volume(VolumeId=volume_id, InstanceId=self._instance_id, Device=device)

    def detach_volume(self, volume_id: str) -> None:
        """Begin to detach a volume from this instance, never by force."""
        self.client("ec2").detach_volume(VolumeId=volume_id, InstanceId=self._instance_id)

    def _volumes(self, filters: dict[str, list[str]]) -> list[dict[str, Any]]:
        given = [{"Name": name, "Values": values} for name, values in filters.items()]
        pages = self.client("ec2").get_paginator("describe_volumes").paginate(Filters=given)
        return [each for page in pages for each in page["Volumes"]]


def _live(described: dict[str, Any]) -> LiveVolume:
    tags = {tag["Key"]: tag["Value"] for tag in described.get("Tags", ())}
    attached = next(iter(described.get("Attachments", ())), {})
    index = tags.get(names.TAG_INDEX)
    return LiveVolume(
        id=described["VolumeId"],
        name=tags[names.TAG_VOLUME],
        index=None if index is None else int(index),
        size_gib=described["Size"],
        zone=described["AvailabilityZone"],
        state=described["State"],
        holder=attached.get("InstanceId", ""),
        holding=attached.get("State", ""),
        snapshot=described.get("SnapshotId") or "",
    )

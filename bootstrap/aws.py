"""The node's only edge to boto3: each call that the role allows, by what it is for."""

from __future__ import annotations

from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from bootstrap.start.config import NodeConfig
from nightshift.plan import names

_CONFIG = Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard", "max_attempts": 8})
REASON_CHARS = 256
"""Longest value of a tag (EC2)."""
AwsError = (BotoCoreError, ClientError)


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

"""The node's calls about itself as a member of its group: hooks, its own end, tags and metrics."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import ClientError

from bootstrap.aws_session import Session
from nightshift.plan import names

REASON_CHARS = 256
"""Longest value of a tag (EC2)."""
NOBODY_WAITS = "No active Lifecycle Action"
"""What Auto Scaling says of a hook that is complete already, or was never begun."""
NOT_A_MEMBER = "No managed instance found"
"""What Auto Scaling says of an instance that has left its group."""


class GroupCalls(Session):
    """This node and its group. Every method raises one of AwsError when AWS refuses or can't be reached."""

    def complete_launch(self, result: str) -> bool:
        """CONTINUE or ABANDON; False when nobody waits for this launch any more."""
        return self._complete(self._config.hook, result)

    def complete_drain(self) -> bool:
        """The node may go; False when nobody waits for it: a spot end, or done before."""
        return self._complete(names.HOOK_DRAIN, "CONTINUE")

    def is_ended(self) -> bool:
        """Whether the group waits for this node's drain. Fails within seconds.

        Told by a heartbeat, which is taken by a hook that waits and refused otherwise: Describe calls take
        no resource, so a node that may make one may read of every group in the account.
        """
        return self._beat(self.client("autoscaling", brief=True), names.HOOK_DRAIN)

    def beat(self, hook: str) -> bool:
        """Renew the hook's wait by its own heartbeat; False when nobody waits."""
        return self._beat(self.client("autoscaling"), hook)

    def _beat(self, autoscaling: Any, hook: str) -> bool:
        try:
            autoscaling.record_lifecycle_action_heartbeat(
                LifecycleHookName=hook,
                AutoScalingGroupName=self._config.group_name,
                InstanceId=self._instance_id,
            )
        except ClientError as error:
            if NOBODY_WAITS not in str(error):
                raise
            return False
        return True

    def end_itself(self, *, replaced: bool) -> bool:
        """Begin this node's end; with `replaced` the group starts another. False when it has left already."""
        try:
            self.client("autoscaling").terminate_instance_in_auto_scaling_group(
                InstanceId=self._instance_id, ShouldDecrementDesiredCapacity=not replaced
            )
        except ClientError as error:
            if NOT_A_MEMBER not in str(error):
                raise
            return False
        return True

    def tag_itself(self, readiness: str, reason: str) -> None:
        """The verdict as tags of this instance, for people who look at the console."""
        pairs = {"nightshift:readiness": readiness, "nightshift:reason": reason[:REASON_CHARS]}
        tags = [{"Key": key, "Value": value} for key, value in pairs.items()]
        self.client("ec2").create_tags(Resources=[self._instance_id], Tags=tags)

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

    def _complete(self, hook: str, result: str) -> bool:
        try:
            self.client("autoscaling").complete_lifecycle_action(
                LifecycleHookName=hook,
                AutoScalingGroupName=self._config.group_name,
                InstanceId=self._instance_id,
                LifecycleActionResult=result,
            )
        except ClientError as error:
            if NOBODY_WAITS not in str(error):
                raise
            return False
        return True

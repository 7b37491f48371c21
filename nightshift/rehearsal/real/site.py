"""The emulated AWS as the real nodes' own: its clock, and one group's instances launched and ended in it."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from nightshift.emulator.sandbox.control import control
from nightshift.plan.names import HOOK_DRAIN
from nightshift.rehearsal.clients import Clients, listed

HOLDS_S = 90 * 86_400
"""A node's credentials: longer than any shift, since the clock jumps over the times of their renewal."""


def travel(endpoint: str, at: int) -> None:
    """It is `at` (unix s) in the emulated AWS, and time runs on from there."""
    control(endpoint, "clock", {"now": datetime.fromtimestamp(at, UTC).isoformat()})


def back(endpoint: str) -> None:
    """It is now."""
    control(endpoint, "clock", {"now": None})


def credentials(endpoint: str, instance_id: str) -> dict[str, Any]:
    """Of the instance's role."""
    return control(endpoint, "node-credentials", {"instance_id": instance_id, "seconds": HOLDS_S})


@dataclass
class AwsGroup:
    """One Auto Scaling group. `live`: instances that are there by the rehearsal's word.

    What the emulated group launches by itself, as a replacement, is kept for the next `launch` or ended.
    """

    clients: Clients
    endpoint: str
    name: str
    live: set[str] = field(default_factory=set)

    def launch(self, kind: str, types: tuple[str, ...]) -> str:
        """One instance more, as a fired action does; of `kind`, since those before it in the list have no
        room. Its id. Raises RuntimeError when none came."""
        for short in types[: types.index(kind)]:
            control(self.endpoint, "faults", {"insufficient": {short: 1}})
        self._resize(len(self.live) + 1)
        fresh = [one for one in self._members() if one not in self.live]
        control(self.endpoint, "faults", {"insufficient": dict.fromkeys(types, 0)})
        if not fresh:
            raise RuntimeError(f"the emulated AWS launched nothing in {self.name}: {self._why()}")
        self.live.add(fresh[0])
        return fresh[0]

    def user_data(self, instance_id: str) -> bytes:
        """What the launch template gave it."""
        asked = self.clients("ec2").describe_instance_attribute(InstanceId=instance_id, Attribute="userData")
        return base64.b64decode(asked["UserData"]["Value"])

    def node_object(self, bucket: str, instance_id: str, name: str) -> bytes | None:
        """What a node has written below its own id."""
        s3 = self.clients("s3")
        found = listed(s3, "list_objects_v2", "Contents", Bucket=bucket, Prefix="nodes/")
        keys = [one["Key"] for one in found if one["Key"].endswith(f":{instance_id}/{name}")]
        return s3.get_object(Bucket=bucket, Key=keys[0])["Body"].read() if keys else None

    def shrink(self, instance_id: str) -> None:
        """The group gets smaller by this instance, which its terminating hook holds."""
        if len(self.live) == 1:
            self._resize(0)
        elif instance_id in self._members():
            self.clients("autoscaling").terminate_instance_in_auto_scaling_group(
                InstanceId=instance_id, ShouldDecrementDesiredCapacity=True
            )

    def end(self, instance_id: str) -> None:
        """The instance is no more, nor what the group launched in its place."""
        self.live.discard(instance_id)
        scaling = self.clients("autoscaling")
        if self._members().get(instance_id, "").startswith(("Pending", "InService")):
            scaling.terminate_instance_in_auto_scaling_group(
                InstanceId=instance_id, ShouldDecrementDesiredCapacity=True
            )
        if self._runs(instance_id):
            self.clients("ec2").terminate_instances(InstanceIds=[instance_id])
        self.tidy()

    def tidy(self) -> None:
        """No other instances than the live ones."""
        self._resize(len(self.live))
        strays = [one for one in self._members() if one not in self.live]
        for one in strays:
            self._let_go(one)

    def close(self) -> None:
        """None of its instances is left."""
        for one in list(self.live):
            self.end(one)
        self.tidy()

    def _let_go(self, instance_id: str) -> None:
        scaling = self.clients("autoscaling")
        if self._members().get(instance_id) != "Terminating:Wait":
            return
        scaling.complete_lifecycle_action(
            AutoScalingGroupName=self.name,
            LifecycleHookName=HOOK_DRAIN,
            LifecycleActionResult="CONTINUE",
            InstanceId=instance_id,
        )

    def state(self, instance_id: str) -> str:
        """Its lifecycle state in the group; empty when it isn't a member."""
        return self._members().get(instance_id, "")

    def _resize(self, desired: int) -> None:
        self.clients("autoscaling").set_desired_capacity(
            AutoScalingGroupName=self.name, DesiredCapacity=desired
        )

    def _members(self) -> dict[str, str]:
        found = self.clients("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[self.name])
        return {
            each["InstanceId"]: each["LifecycleState"]
            for group in found["AutoScalingGroups"]
            for each in group["Instances"]
        }

    def _runs(self, instance_id: str) -> bool:
        """Whether EC2 still has it."""
        asked = [{"Name": "instance-id", "Values": [instance_id]}]
        found = listed(self.clients("ec2"), "describe_instances", "Reservations", Filters=asked)
        states = [one["State"]["Name"] for each in found for one in each["Instances"]]
        return any(state not in ("terminated", "shutting-down") for state in states)

    def _why(self) -> str:
        told = self.clients("autoscaling").describe_scaling_activities(AutoScalingGroupName=self.name)
        return next((one.get("StatusMessage", "") for one in told["Activities"]), "no activity")

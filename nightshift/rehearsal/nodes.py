"""What no node does here by itself: groups brought up as a fired action does, and taken down again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nightshift.plan.names import HOOK_DRAIN, HOOK_READY, group_name
from nightshift.rehearsal.clients import Clients

if TYPE_CHECKING:
    from nightshift.settings.models import Stack


def bring_up(stack: Stack, clients: Clients) -> None:
    """Every group at the size of its shift, its nodes ready."""
    for name, group in stack.groups.items():
        _resize(clients("autoscaling"), group_name(stack.name, name), group.nodes, HOOK_READY)


def take_down(stack: Stack, clients: Clients) -> None:
    """Every group without nodes; a node that waits to be ready is given up."""
    scaling = clients("autoscaling")
    for name in stack.groups:
        asg = group_name(stack.name, name)
        _finish(scaling, asg, HOOK_READY, "Pending", "ABANDON")
        _resize(scaling, asg, 0, HOOK_DRAIN)


def _resize(scaling: Any, asg: str, desired: int, hook: str) -> None:
    scaling.set_desired_capacity(AutoScalingGroupName=asg, DesiredCapacity=desired)
    _finish(scaling, asg, hook, "Pending" if desired else "Terminating", "CONTINUE")


def _finish(scaling: Any, asg: str, hook: str, state: str, result: str) -> None:
    """Answer the hook for each node that waits in it."""
    found = scaling.describe_auto_scaling_groups(AutoScalingGroupNames=[asg])["AutoScalingGroups"]
    for node in (node for raw in found for node in raw["Instances"]):
        if node["LifecycleState"] == f"{state}:Wait":
            scaling.complete_lifecycle_action(
                AutoScalingGroupName=asg,
                LifecycleHookName=hook,
                LifecycleActionResult=result,
                InstanceId=node["InstanceId"],
            )

"""Desired capacity and the life of instances: pending, in service, terminating, with hooks.

Everything happens at once when it is asked for; nothing happens by itself when time passes."""

from __future__ import annotations

from typing import Any

from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup, InstanceState
from moto.core.exceptions import ServiceException
from moto.core.utils import utcnow

from nightshift.emulator.cloud.call import AwsError
from nightshift.emulator.cloud.services import launch
from nightshift.emulator.cloud.services.activities import finish, record
from nightshift.emulator.cloud.services.waits import LAUNCHING, TERMINATING, expired, hold, release
from nightshift.emulator.cloud.state import Handlers, Patch

COUNTED = frozenset({"Pending", "Pending:Wait", "Pending:Proceed", "InService"})


def counted(group: Any) -> list[InstanceState]:
    """The instances that count towards desired capacity."""
    return [state for state in group.instance_states if state.lifecycle_state in COUNTED]


def suspended(group: Any, process: str) -> bool:
    """Whether a process of the group is suspended."""
    return any(row["ProcessName"] == process for row in group.suspended_processes)


def settle(group: Any, cause: str = "a difference between desired and actual capacity") -> None:
    """Bring a group to its desired capacity as far as capacity, quotas and suspensions allow."""
    desired = group.desired_capacity or 0
    if group.ec2_launch_template is None:
        return
    while len(counted(group)) < desired and not suspended(group, "Launch"):
        if not _launch(group, cause):
            break
    if not suspended(group, "Terminate"):
        for state in _surplus(group, len(counted(group)) - desired):
            begin_terminate(group, state, f"an instance was taken out of service in response to {cause}")


def _surplus(group: Any, count: int) -> list[InstanceState]:
    """Whom to end: the unprotected, those not yet in service first, then the oldest template version,
    then the oldest."""
    free = [state for state in counted(group) if not state.protected_from_scale_in]
    free.sort(key=_age)
    return free[: max(0, count)]


def _age(state: InstanceState) -> tuple[bool, int, Any]:
    version = int((state.launch_template or {}).get("Version", 0))
    return state.lifecycle_state == "InService", version, state.instance.launch_time


def _launch(group: Any, cause: str) -> bool:
    """Try each choice in order; the first shortage leads to the next type. False when nothing was
    launched."""
    why = f"an instance was started in response to {cause}."
    error: AwsError | ServiceException | None = None
    zone = ""
    for choice in _choices(group, why):
        zone = choice.subnet.availability_zone
        try:
            launch.check_capacity(choice, group.region)
            state = launch.run(group, choice)
        except (AwsError, ServiceException) as failure:
            error = failure
            continue
        _enter(group, state, why)
        return True
    if error is not None:
        text = f"{error.message} Launching EC2 instance failed."
        record(group, "Launching a new EC2 instance.  Status Reason: " + text, why, "Failed", text, zone)
    return False


def _choices(group: Any, why: str) -> list[launch.Choice]:
    try:
        return launch.choices(group)
    except (AwsError, ServiceException) as error:
        text = f"{error.message} Launching EC2 instance failed."
        record(group, "Launching a new EC2 instance.  Status Reason: " + text, why, "Failed", text)
        return []


def _enter(group: Any, state: InstanceState, why: str) -> None:
    row = record(
        group,
        f"Launching a new EC2 instance: {state.instance_id}",
        why,
        "MidLifecycleAction",
        zone=state.availability_zone or "",
    )
    vars(state)["activity"] = row
    if hold(group, state, LAUNCHING):
        state.lifecycle_state = "Pending:Wait"
    else:
        finish(row, "Successful")
        state.lifecycle_state = "InService"


def begin_terminate(group: Any, state: InstanceState, cause: str, skip_hooks: bool = False) -> dict[str, Any]:
    """Start the end of an instance; its terminating hooks hold it unless skipped. Gives the activity."""
    release(group, state)
    description = f"Terminating EC2 instance: {state.instance_id}"
    row = record(group, description, cause, "MidLifecycleAction", zone=state.availability_zone or "")
    vars(state)["activity"] = row
    if not skip_hooks and hold(group, state, TERMINATING):
        state.lifecycle_state = "Terminating:Wait"
    else:
        end(group, state)
    return row


def end(group: Any, state: InstanceState) -> None:
    """End an instance for good. The member goes first, else moto would replace it."""
    release(group, state)
    group.instance_states = [other for other in group.instance_states if other is not state]
    activity = vars(state).get("activity")
    if activity is not None:
        finish(activity, "Successful")
    if state.instance.state not in {"terminated", "shutting-down"}:
        group.ec2_backend.terminate_instances([state.instance_id])


def proceed(group: Any, state: InstanceState, result: str) -> None:
    """A hook's action ended with CONTINUE or ABANDON and no other holds the instance."""
    if state.lifecycle_state == "Pending:Wait" and result == "CONTINUE":
        state.lifecycle_state = "InService"
        finish(vars(state)["activity"], "Successful")
        return
    launching = state.lifecycle_state == "Pending:Wait"
    if launching:
        finish(vars(state)["activity"], "Cancelled")
    end(group, state)
    if launching:
        settle(group, "an unhealthy instance needing to be replaced")


def expire(group: Any) -> None:
    """Give every action past its deadline its default result."""
    for state in list(group.instance_states):
        result = expired(group, state, utcnow())
        if result is not None:
            proceed(group, state, result)


def member(region: str, instance_id: str) -> tuple[Any, InstanceState]:
    """The group and the member of an instance. Raises AWS's error when it is in no group."""
    from nightshift.emulator.cloud.services.backends import autoscaling

    for group in autoscaling(region).autoscaling_groups.values():
        for state in group.instance_states:
            if state.instance_id == instance_id:
                return group, state
    raise AwsError(
        "ValidationError", f"Instance Id not found - No managed instance found for instance ID: {instance_id}"
    )


def _set_desired(self: Any, new_capacity: int | None) -> None:
    old = getattr(self, "desired_capacity", None)
    self.desired_capacity = self.min_size if new_capacity is None else new_capacity
    settle(self, f"a change of the desired capacity from {old or 0} to {self.desired_capacity}")


def _noticed(self: Any, instance_ids: list[str]) -> None:
    """Instances ended through EC2: the group takes them out and replaces them, as its health check would."""
    for group in list(self.autoscaling_groups.values()):
        gone = [state for state in group.instance_states if state.instance_id in instance_ids]
        for state in gone:
            release(group, state)
            cause = "an instance was taken out of service in response to an EC2 health check"
            record(group, f"Terminating EC2 instance: {state.instance_id}", cause, "Successful")
        group.instance_states = [state for state in group.instance_states if state not in gone]
        if gone:
            settle(group, "an unhealthy instance needing to be replaced")


HANDLERS: Handlers = {}
PATCHES = (
    Patch(
        FakeAutoScalingGroup,
        "set_desired_capacity",
        _set_desired,
        "moto launches and ends at once, without hooks, zones, suspensions, quotas or activities",
    ),
    Patch(
        FakeAutoScalingGroup,
        "active_instances",
        counted,
        "instances held by a launching hook count as capacity",
    ),
    Patch(
        AutoScalingBackend,
        "notify_terminate_instances",
        _noticed,
        "moto replaces without looking at hooks and desired capacity",
    ),
)

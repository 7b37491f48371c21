"""Refusals of Auto Scaling groups: sizes, names, zones, ends."""

from __future__ import annotations

from typing import Any

from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.refusals.row import API, ASG_GUIDE, EC2_GUIDE, Condition, Row
from nightshift.emulator.cloud.services import capacity
from nightshift.emulator.cloud.services.backends import autoscaling, ec2, find_group
from nightshift.emulator.cloud.state import STATE

CREATE, UPDATE = "CreateAutoScalingGroup", "UpdateAutoScalingGroup"
BOTH = (CREATE, UPDATE)
GROUPS_PER_REGION = 500
DAY = 86_400
HEALTH = frozenset({"EC2", "EBS", "ELB", "VPC_LATTICE"})
PROCESSES = frozenset(
    {
        "Launch",
        "Terminate",
        "AddToLoadBalancer",
        "AlarmNotification",
        "AZRebalance",
        "HealthCheck",
        "InstanceRefresh",
        "ReplaceUnhealthy",
        "ScheduledActions",
    }
)


def existing(call: Call) -> Any | None:
    """The group that the call names, if it exists."""
    return find_group(call.region, call.params["AutoScalingGroupName"])


def after(call: Call, member: str, attribute: str) -> Any:
    """A size as it would be after the call."""
    given = call.params.get(member)
    return getattr(existing(call), attribute, None) if given is None else given


def _missing(call: Call) -> str | None:
    return "AutoScalingGroup name not found - null" if existing(call) is None else None


def _exists(call: Call) -> str | None:
    if existing(call) is None:
        return None
    return (
        "AutoScalingGroup by this name already exists - A group with the name "
        f"{call.params['AutoScalingGroupName']} already exists"
    )


def _colon(call: Call) -> str | None:
    name = call.params["AutoScalingGroupName"]
    good = all(33 <= ord(letter) <= 126 and letter != ":" for letter in name)
    if good:
        return None
    return f"Group name {name} can only contain ASCII characters 33 to 126, without the colon"


def _min_above_max(call: Call) -> str | None:
    low, high = after(call, "MinSize", "min_size"), after(call, "MaxSize", "max_size")
    if low is not None and high is not None and low > high:
        return f"Min bound, {low}, must be less than or equal to max bound, {high}"
    return None


def _desired_outside(call: Call) -> str | None:
    desired = call.params.get("DesiredCapacity")
    low, high = after(call, "MinSize", "min_size"), after(call, "MaxSize", "max_size")
    if desired is None or low is None or high is None or low <= desired <= high:
        return None
    return f"Desired capacity:{desired} must be between the specified min size:{low} and max size:{high}"


def _set_outside(call: Call) -> str | None:
    group, desired = existing(call), call.params["DesiredCapacity"]
    if group is None:
        return None
    if desired > group.max_size:
        return (
            f"New SetDesiredCapacity value {desired} is above max value {group.max_size} for "
            "the AutoScalingGroup."
        )
    if desired < group.min_size:
        return (
            f"New SetDesiredCapacity value {desired} is below min value {group.min_size} for "
            "the AutoScalingGroup."
        )
    return None


def _too_many(call: Call) -> str | None:
    if len(autoscaling(call.region).autoscaling_groups) < GROUPS_PER_REGION:
        return None
    return f"You have reached the limit of {GROUPS_PER_REGION} Auto Scaling groups."


def _health(call: Call) -> str | None:
    kinds = [kind.strip() for kind in (call.params.get("HealthCheckType") or "").split(",") if kind]
    wrong = [kind for kind in kinds if kind not in HEALTH]
    return (
        f"HealthCheckType {wrong[0]} is invalid. Valid values: {', '.join(sorted(HEALTH))}" if wrong else None
    )


def _lifetime(call: Call) -> str | None:
    given = call.params.get("MaxInstanceLifetime")
    if given and given < DAY:
        return f"Max instance lifetime must be 0 or at least {DAY} seconds"
    return None


def _zones(call: Call) -> set[str]:
    ids = (call.params.get("VPCZoneIdentifier") or "").split(",")
    known = {subnet.id: subnet.availability_zone for subnet in ec2(call.region).describe_subnets()}
    zones = {known[part.strip()] for part in ids if part.strip() in known}
    return zones or set(
        call.params.get("AvailabilityZones") or getattr(existing(call), "availability_zones", ())
    )


def _placement(call: Call) -> dict[str, Any] | None:
    name = call.params.get("PlacementGroup") or getattr(existing(call), "placement_group", None)
    return STATE.placement_groups[call.region].get(name) if name else None


def _unknown_placement(call: Call) -> str | None:
    name = call.params.get("PlacementGroup")
    if name and name not in STATE.placement_groups[call.region]:
        return f"The Placement Group '{name}' is unknown."
    return None


def _two_zones(call: Call) -> str | None:
    placement = _placement(call)
    if placement is None or placement["Strategy"] != "cluster" or len(_zones(call)) < 2:
        return None
    return "A cluster placement group can't span multiple Availability Zones; specify one Availability Zone."


def _in_use(call: Call) -> str | None:
    group = existing(call)
    if group is None or not group.instance_states or call.params.get("ForceDelete"):
        return None
    return (
        "You cannot delete an AutoScalingGroup while there are instances or pending Spot "
        "instance request(s) still in "
        "the group."
    )


def _below_min(call: Call) -> str | None:
    if not call.params.get("ShouldDecrementDesiredCapacity"):
        return None
    group, _ = capacity.member(call.region, call.params["InstanceId"])
    if group.desired_capacity > group.min_size:
        return None
    return (
        f"Currently, desiredSize equals minSize ({group.min_size}). Terminating instance without "
        "replacement will "
        "violate group's min size constraint. Either set shouldDecrementDesiredCapacity flag to "
        "false or lower group's "
        "min size."
    )


def _process(call: Call) -> str | None:
    wrong = [name for name in call.params.get("ScalingProcesses") or () if name not in PROCESSES]
    return f"Invalid process name(s): {', '.join(wrong)}" if wrong else None


def _policy_group(call: Call) -> str | None:
    return "Group " + call.params["AutoScalingGroupName"] + " not found" if existing(call) is None else None


def _row(
    name: str, operations: tuple[str, ...], refuses: Condition, source: str, code: str = "ValidationError"
) -> Row:
    return Row(f"group-{name}", "autoscaling", operations, code, refuses, source)


ROWS = (
    _row("exists", (CREATE,), _exists, f"{API} CreateAutoScalingGroup, AlreadyExistsFault", "AlreadyExists"),
    _row("name", (CREATE,), _colon, f"{API} CreateAutoScalingGroup, AutoScalingGroupName; fact D63"),
    _row("min-above-max", BOTH, _min_above_max, f"{API} CreateAutoScalingGroup, MinSize; plain moto: K115"),
    _row(
        "desired-outside", BOTH, _desired_outside, f"{API} UpdateAutoScalingGroup, DesiredCapacity; fact A16"
    ),
    _row("set-desired-outside", ("SetDesiredCapacity",), _set_outside, f"{API} SetDesiredCapacity"),
    _row("set-desired-missing", ("SetDesiredCapacity",), _missing, f"{API} SetDesiredCapacity"),
    _row("health-type", BOTH, _health, f"{API} CreateAutoScalingGroup, HealthCheckType; fact D55"),
    _row("lifetime", BOTH, _lifetime, f"{API} CreateAutoScalingGroup, MaxInstanceLifetime; fact D59"),
    _row("placement-unknown", BOTH, _unknown_placement, f"{EC2_GUIDE}/placement-groups.html; fact C40"),
    _row("cluster-two-zones", BOTH, _two_zones, "hashicorp/terraform#8064, #16183; fact C39"),
    _row(
        "more-than-500",
        (CREATE,),
        _too_many,
        f"{ASG_GUIDE}/ec2-auto-scaling-quotas.html; fact D63",
        "LimitExceeded",
    ),
    _row(
        "delete-with-instances",
        ("DeleteAutoScalingGroup",),
        _in_use,
        f"{API} DeleteAutoScalingGroup, ForceDelete; plain moto: K115",
        "ResourceInUse",
    ),
    _row(
        "decrement-below-min",
        ("TerminateInstanceInAutoScalingGroup",),
        _below_min,
        f"{API} TerminateInstanceInAutoScalingGroup",
    ),
    _row(
        "process-name",
        ("SuspendProcesses", "ResumeProcesses"),
        _process,
        f"{ASG_GUIDE}/as-suspend-resume-processes.html",
    ),
    _row("policy-missing-group", ("PutScalingPolicy",), _policy_group, f"{API} PutScalingPolicy"),
    _row(
        "notify-missing-group",
        ("PutNotificationConfiguration",),
        _policy_group,
        f"{API} PutNotificationConfiguration",
    ),
)

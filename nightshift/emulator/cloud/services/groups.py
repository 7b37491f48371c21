"""Auto Scaling groups: every attribute kept, updates that leave alone what they don't name, ends that
clean up."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from nightshift.emulator.cloud.call import AwsError, Call
from nightshift.emulator.cloud.services import capacity
from nightshift.emulator.cloud.services.backends import autoscaling, find_group, need_group
from nightshift.emulator.cloud.services.hooks import put_hook
from nightshift.emulator.cloud.state import STATE, Handlers, Patch

METRICS = (
    "GroupMinSize",
    "GroupMaxSize",
    "GroupDesiredCapacity",
    "GroupInServiceInstances",
    "GroupPendingInstances",
    "GroupStandbyInstances",
    "GroupTerminatingInstances",
    "GroupTotalInstances",
    "GroupInServiceCapacity",
    "GroupPendingCapacity",
    "GroupStandbyCapacity",
    "GroupTerminatingCapacity",
    "GroupTotalCapacity",
    "WarmPoolDesiredCapacity",
    "WarmPoolWarmedCapacity",
    "WarmPoolPendingCapacity",
    "WarmPoolTerminatingCapacity",
    "WarmPoolTotalCapacity",
    "GroupAndWarmPoolDesiredCapacity",
    "GroupAndWarmPoolTotalCapacity",
)
# Request member -> attribute of moto's group, which the answer is written from.
ATTRIBUTES = {
    "DefaultCooldown": "default_cooldown",
    "HealthCheckType": "health_check_type",
    "HealthCheckGracePeriod": "health_check_grace_period",
    "PlacementGroup": "placement_group",
    "TerminationPolicies": "termination_policies",
    "NewInstancesProtectedFromScaleIn": "new_instances_protected_from_scale_in",
    "MaxInstanceLifetime": "max_instance_lifetime",
    "CapacityRebalance": "capacity_rebalance",
    "Context": "context",
    "DesiredCapacityType": "desired_capacity_type",
    "DefaultInstanceWarmup": "default_instance_warmup",
    "InstanceMaintenancePolicy": "instance_maintenance_policy",
    "DeletionProtection": "deletion_protection",
    "AvailabilityZoneDistribution": "availability_zone_distribution",
    "AvailabilityZoneImpairmentPolicy": "availability_zone_impairment_policy",
    "CapacityReservationSpecification": "capacity_reservation_specification",
    "InstanceLifecyclePolicy": "instance_lifecycle_policy",
    "ServiceLinkedRoleARN": "service_linked_role_arn",
}
DISTRIBUTION = {
    "OnDemandAllocationStrategy": "prioritized",
    "OnDemandBaseCapacity": 0,
    "OnDemandPercentageAboveBaseCapacity": 100,
    "SpotAllocationStrategy": "lowest-price",
}


def _policy(given: dict[str, Any] | None) -> dict[str, Any] | None:
    """A mixed instances policy with the defaults that AWS answers."""
    if not given:
        return None
    policy = deepcopy(given)
    distribution = DISTRIBUTION | (policy.get("InstancesDistribution") or {})
    if distribution["SpotAllocationStrategy"] == "lowest-price":
        distribution.setdefault("SpotInstancePools", 2)
    policy["InstancesDistribution"] = distribution
    return policy


def _assign(group: Any, params: dict[str, Any]) -> None:
    for member, attribute in ATTRIBUTES.items():
        if params.get(member) is not None:
            setattr(group, attribute, params[member])
    if params.get("DefaultInstanceWarmup") == -1:
        group.default_instance_warmup = None
    group.placement_group = group.placement_group or None


def _create(call: Call) -> None:
    """Hooks come first, so that the first instances meet them; the group is filled last, so that it
    is whole then."""
    p = call.params
    name = p["AutoScalingGroupName"]
    group = autoscaling(call.region).create_auto_scaling_group(
        name=name,
        availability_zones=p.get("AvailabilityZones", []),
        desired_capacity=0,
        max_size=p["MaxSize"],
        min_size=p["MinSize"],
        launch_config_name=p.get("LaunchConfigurationName"),
        launch_template=p.get("LaunchTemplate", {}),
        vpc_zone_identifier=p.get("VPCZoneIdentifier"),
        default_cooldown=None,
        health_check_period=0,
        health_check_type=None,
        load_balancers=p.get("LoadBalancerNames", []),
        target_group_arns=p.get("TargetGroupARNs", []),
        placement_group=p.get("PlacementGroup"),
        termination_policies=[],
        tags=[dict(tag) for tag in p.get("Tags", [])],
        mixed_instances_policy=_policy(p.get("MixedInstancesPolicy")),
    )
    group.health_check_grace_period = 0
    group.availability_zone_distribution = {"CapacityDistributionStrategy": "balanced-best-effort"}
    _assign(group, p)
    for hook in p.get("LifecycleHookSpecificationList", ()):
        put_hook(call.region, name, hook)
    group.set_desired_capacity(p.get("DesiredCapacity"))


def _launch_from(group: Any, p: dict[str, Any]) -> None:
    if p.get("MixedInstancesPolicy"):
        group.mixed_instances_policy = _policy(p["MixedInstancesPolicy"])
        group._set_launch_configuration(None, {}, group.mixed_instances_policy)
    elif p.get("LaunchTemplate"):
        group.mixed_instances_policy = None
        group._set_launch_configuration(None, p["LaunchTemplate"], None)


def _update(call: Call) -> None:
    p = call.params
    group = need_group(call.region, p["AutoScalingGroupName"])
    if p.get("AvailabilityZones") or p.get("VPCZoneIdentifier"):
        group._set_azs_and_vpcs(p.get("AvailabilityZones") or [], p.get("VPCZoneIdentifier"), update=True)
    _launch_from(group, p)
    _assign(group, p)
    group.min_size = group.min_size if p.get("MinSize") is None else p["MinSize"]
    group.max_size = group.max_size if p.get("MaxSize") is None else p["MaxSize"]
    wanted = group.desired_capacity if p.get("DesiredCapacity") is None else p["DesiredCapacity"]
    group.set_desired_capacity(max(group.min_size, min(group.max_size, wanted)))


def _set_desired(call: Call) -> None:
    group = need_group(call.region, call.params["AutoScalingGroupName"])
    group.set_desired_capacity(call.params["DesiredCapacity"])


def _delete(call: Call) -> None:
    """Without force only an empty group goes; with force its instances end at once, without hooks."""
    name = call.params["AutoScalingGroupName"]
    group = find_group(call.region, name)
    if group is None:
        text = f"AutoScalingGroup name not found - AutoScalingGroup '{name}' not found"
        raise AwsError("ValidationError", text)
    if group.instance_states and not call.params.get("ForceDelete"):
        text = (
            "You cannot delete an AutoScalingGroup while there are instances or pending Spot "
            "instance request(s) "
        )
        raise AwsError("ResourceInUse", text + "still in the group.")
    group.desired_capacity = 0
    for state in list(group.instance_states):
        capacity.begin_terminate(group, state, "the group was deleted by force", skip_hooks=True)
    del autoscaling(call.region).autoscaling_groups[group.name]
    _forget(STATE.hooks[call.region], group.name)
    _forget(STATE.schedules[call.region], group.name)
    _forget(STATE.notifications[call.region], group.name)
    _forget(STATE.scaling_policies[call.region], group.name)


def _forget(table: dict[Any, Any], name: str) -> None:
    for key in [key for key in table if key[0] == name]:
        del table[key]


def _terminate(call: Call) -> dict[str, Any]:
    group, state = capacity.member(call.region, call.params["InstanceId"])
    decrement = bool(call.params.get("ShouldDecrementDesiredCapacity"))
    if decrement and group.desired_capacity <= group.min_size:
        raise AwsError(
            "ValidationError",
            f"Currently, desiredSize equals minSize ({group.min_size}). Terminating instance "
            "without replacement will "
            "violate group's min size constraint. Either set shouldDecrementDesiredCapacity "
            "flag to false or lower "
            "group's min size.",
        )
    cause = f"instance {state.instance_id} was taken out of service in response to a user request"
    if decrement:
        old = group.desired_capacity
        group.desired_capacity = old - 1
        cause += f", shrinking the capacity from {old} to {old - 1}"
    row = capacity.begin_terminate(group, state, cause + ".")
    capacity.settle(group, "an unhealthy instance needing to be replaced")
    return {"Activity": row}


def _set_health(call: Call) -> None:
    group, state = capacity.member(call.region, call.params["InstanceId"])
    state.health_status = call.params["HealthStatus"]
    if state.health_status == "Unhealthy" and not capacity.suspended(group, "ReplaceUnhealthy"):
        cause = "an instance was taken out of service in response to a user health-check."
        capacity.begin_terminate(group, state, cause)
        capacity.settle(group, "an unhealthy instance needing to be replaced")


def _enable_metrics(call: Call) -> None:
    group = need_group(call.region, call.params["AutoScalingGroupName"])
    group.metrics = sorted(set(group.metrics) | set(call.params.get("Metrics") or METRICS))


def _disable_metrics(call: Call) -> None:
    group = need_group(call.region, call.params["AutoScalingGroupName"])
    group.metrics = sorted(set(group.metrics) - set(call.params.get("Metrics") or METRICS))


HANDLERS: Handlers = {
    ("autoscaling", "CreateAutoScalingGroup"): _create,
    ("autoscaling", "UpdateAutoScalingGroup"): _update,
    ("autoscaling", "SetDesiredCapacity"): _set_desired,
    ("autoscaling", "DeleteAutoScalingGroup"): _delete,
    ("autoscaling", "TerminateInstanceInAutoScalingGroup"): _terminate,
    ("autoscaling", "SetInstanceHealth"): _set_health,
    ("autoscaling", "EnableMetricsCollection"): _enable_metrics,
    ("autoscaling", "DisableMetricsCollection"): _disable_metrics,
}
PATCHES: tuple[Patch, ...] = ()

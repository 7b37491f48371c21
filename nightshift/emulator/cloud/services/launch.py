"""Launching one instance of a group with everything its template, override and subnet say.

moto launches the default version and drops profile, metadata options, interfaces and volume tags."""

from __future__ import annotations

import math
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any

from moto.autoscaling.models import ASG_NAME_TAG, InstanceState
from moto.core.types import Base64EncodedString
from moto.ec2.models.instances import Instance

from nightshift.emulator.cloud.call import AwsError
from nightshift.emulator.cloud.services.backends import spec_tags, tag_map
from nightshift.emulator.cloud.services.images import root_mapping
from nightshift.emulator.cloud.services.quotas import check_vcpus
from nightshift.emulator.cloud.state import STATE, Handlers, Patch


@dataclass(frozen=True)
class Choice:
    """What to launch: a type, by which market, into which subnet (and so which zone)."""

    instance_type: str
    spot: bool
    subnet: Any
    template: Any
    version: Any


def on_demand_share(policy: dict[str, Any] | None, desired: int) -> int:
    """How many of `desired` instances are to be On-Demand by a mixed instances policy; the rest is Spot."""
    if not policy:
        return desired
    distribution = policy.get("InstancesDistribution") or {}
    base = min(desired, int(distribution.get("OnDemandBaseCapacity") or 0))
    percent = distribution.get("OnDemandPercentageAboveBaseCapacity")
    above = (desired - base) * (100 if percent is None else int(percent)) / 100
    return base + math.ceil(above)


def types_in_order(policy: dict[str, Any] | None, template_type: str) -> list[str]:
    """The instance types to try, in the order of the overrides."""
    overrides = (policy or {}).get("LaunchTemplate", {}).get("Overrides") or []
    return [o["InstanceType"] for o in overrides if o.get("InstanceType")] or [template_type]


def _subnets(group: Any) -> list[Any]:
    ids = [part for part in (group.vpc_zone_identifier or "").split(",") if part]
    subnets = [group.ec2_backend.get_subnet(part) for part in ids]
    if subnets:
        return subnets
    defaults = group.ec2_backend.get_default_subnets()
    return [defaults[zone] for zone in group.availability_zones if zone in defaults]


def _emptiest(group: Any, subnets: list[Any]) -> Any:
    """The subnet whose zone has the fewest instances of the group: AWS balances zones."""
    zones = [state.availability_zone for state in group.active_instances()]
    return min(subnets, key=lambda subnet: zones.count(subnet.availability_zone))


def choices(group: Any) -> list[Choice]:
    """What to try for the next instance, best first. Raises AwsError when the group has no subnet."""
    template = group.ec2_launch_template
    version = template.get_version(group.launch_template_version)
    subnets = _subnets(group)
    if not subnets:
        raise AwsError("ValidationError", "No subnet of the group exists.")
    policy = group.mixed_instances_policy
    market = (version.data.get("InstanceMarketOptions") or {}).get("MarketType")
    on_demand = sum(1 for state in group.active_instances() if state.instance.lifecycle != "spot")
    spot = market == "spot" or (
        bool(policy) and on_demand >= on_demand_share(policy, group.desired_capacity or 0)
    )
    subnet = _emptiest(group, subnets)
    types = types_in_order(policy, version.data.get("InstanceType", ""))
    return [Choice(kind, spot, subnet, template, version) for kind in types]


def check_capacity(choice: Choice, region: str) -> None:
    """Raise what AWS would: a planned shortage, a type not offered in the zone, or a quota reached."""
    from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS

    zone, kind = choice.subnet.availability_zone, choice.instance_type
    offers = INSTANCE_TYPE_OFFERINGS["availability-zone"].get(region, ())
    if offers and not any(o["InstanceType"] == kind and o["Location"] == zone for o in offers):
        text = (
            f"Your requested instance type ({kind}) is not supported in your requested "
            f"Availability Zone ({zone})."
        )
        raise AwsError("Unsupported", text)
    shortage = STATE.faults.insufficient
    for key in (f"{kind}@{zone}", kind, "*"):
        if shortage.get(key, 0) > 0:
            shortage[key] -= 1
            raise AwsError(
                "InsufficientInstanceCapacity",
                f"We currently do not have sufficient {kind} capacity in the Availability Zone "
                f"you requested ({zone}). "
                "Our system will be working on provisioning additional capacity.",
            )
    check_vcpus(region, kind, choice.spot)


def interfaces(data: dict[str, Any], subnet_id: str) -> list[dict[str, Any]]:
    """The template's interfaces in the group's subnet, or one with the template's security groups.

    The key `Slot` keeps each apart, since moto stores them by device index alone."""
    given: list[dict[str, Any]] = deepcopy(data.get("NetworkInterfaces") or [])
    if not given:
        given = [{"DeviceIndex": 0, "Groups": list(data.get("SecurityGroupIds") or [])}]
    given.sort(key=lambda nic: (int(nic.get("NetworkCardIndex") or 0), int(nic.get("DeviceIndex") or 0)))
    for slot, nic in enumerate(given):
        nic |= {"SubnetId": subnet_id, "DeleteOnTermination": nic.get("DeleteOnTermination") is not False}
        nic["Slot"], nic["RealIndex"], nic["DeviceIndex"] = slot, int(nic.get("DeviceIndex") or 0), slot
    return given


def mappings(data: dict[str, Any], image: Any) -> list[dict[str, Any]]:
    """The image's root device overlaid with the template's block devices."""
    merged: dict[str, dict[str, Any]] = {}
    if image is not None:
        merged[image.root_device_name] = root_mapping(image)
    for row in data.get("BlockDeviceMappings") or ():
        name = row["DeviceName"]
        ebs = merged.get(name, {"Ebs": {"DeleteOnTermination": True}})["Ebs"] | row.get("Ebs", {})
        merged[name] = {"DeviceName": name, "Ebs": ebs}
    return [row for row in merged.values() if row.get("Ebs")]


def _find_image(group: Any, image_id: str) -> Any | None:
    found = group.ec2_backend.describe_images(filters={"image-id": image_id})
    return found[0] if found else None


def run(group: Any, choice: Choice) -> InstanceState:
    """Launch one instance and make it a member of the group (state InService; hooks come after)."""
    data, backend = choice.version.data, group.ec2_backend
    image = _find_image(group, data.get("ImageId", ""))
    if image is None:
        raise AwsError("InvalidAMIID.NotFound", f"The image id '[{data.get('ImageId')}]' does not exist")
    profile = data.get("IamInstanceProfile") or {}
    nics, devices = interfaces(data, choice.subnet.id), mappings(data, image)
    user_data = data.get("UserData")
    reservation = backend.run_instances(
        data["ImageId"],
        1,
        Base64EncodedString(str(user_data)) if user_data else None,
        [],
        instance_type=choice.instance_type,
        is_instance_type_default=False,
        region_name=group.region,
        subnet_id=choice.subnet.id,
        key_name=data.get("KeyName"),
        nics=nics,
        associate_public_ip=choice.subnet.map_public_ip_on_launch in {True, "true"},
        block_device_mappings=devices,
        tags={
            "instance": _instance_tags(group, choice),
            "volume": spec_tags(data.get("TagSpecifications"), "volume"),
        },
        ebs_optimized=bool(data.get("EbsOptimized")),
        monitoring_state="enabled" if (data.get("Monitoring") or {}).get("Enabled") else "disabled",
        metadata_options=data.get("MetadataOptions") or {},
        instance_initiated_shutdown_behavior=data.get("InstanceInitiatedShutdownBehavior"),
        instance_market_options="spot" if choice.spot else None,
    )
    instance = reservation.instances[0]
    _finish(group, choice, instance, nics, devices)
    if profile:
        backend.associate_iam_instance_profile(instance.id, profile.get("Name"), profile.get("Arn"))
    return _member(group, choice, instance)


def _instance_tags(group: Any, choice: Choice) -> dict[str, str]:
    """Template tags, overruled by the group's propagated ones, and the tags that AWS sets."""
    propagated = {t["Key"]: t["Value"] for t in group.tags if t.get("PropagateAtLaunch")}
    return {
        **spec_tags(choice.version.data.get("TagSpecifications"), "instance"),
        **tag_map([{"Key": k, "Value": v} for k, v in propagated.items()]),
        ASG_NAME_TAG: group.name,
        "aws:ec2launchtemplate:id": choice.template.id,
        "aws:ec2launchtemplate:version": str(choice.version.number),
    }


def _finish(
    group: Any, choice: Choice, instance: Any, nics: list[dict[str, Any]], devices: list[dict[str, Any]]
) -> None:
    """What run_instances has no argument for."""
    placement = choice.version.data.get("Placement") or {}
    instance.placement.group_name = group.placement_group or placement.get("GroupName") or ""
    for nic in nics:
        instance.nics[nic["Slot"]].device_index = nic["RealIndex"]
    by_device = {row["DeviceName"]: row["Ebs"] for row in devices}
    for name, block in instance.block_device_mapping.items():
        volume = group.ec2_backend.volumes[block.volume_id]
        ebs = by_device.get(name, {})
        volume.iops = ebs.get("Iops") or volume.iops
        volume.throughput = (
            ebs.get("Throughput") or volume.throughput or (125 if volume.volume_type == "gp3" else None)
        )


def _member(group: Any, choice: Choice, instance: Any) -> InstanceState:
    instance.autoscaling_group = group
    state = InstanceState(instance, protected_from_scale_in=group.new_instances_protected_from_scale_in)
    vars(state)["launched_from"] = {
        "LaunchTemplateId": choice.template.id,
        "LaunchTemplateName": choice.template.name,
        "Version": str(choice.version.number),
    }
    group.instance_states.append(state)
    return state


def _launched_from(state: InstanceState) -> dict[str, Any] | None:
    return vars(state).get("launched_from")


_moto_terminate = Instance.terminate


def _terminate(self: Any) -> Any:
    if self.state == "terminated":
        return copy(self._state)
    return _moto_terminate(self)


HANDLERS: Handlers = {}
PATCHES = (
    Patch(
        Instance,
        "terminate",
        _terminate,
        "moto fails to terminate an instance a second time; AWS answers as the first time",
    ),
    Patch(
        InstanceState,
        "launch_template",
        property(_launched_from),
        "moto shows the template's default version instead of the one the instance was launched from",
    ),
)

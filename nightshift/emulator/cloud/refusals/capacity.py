"""Refusals that come from instance types, quotas and placement groups."""

from __future__ import annotations

import re
from typing import Any

from nightshift.emulator.cloud.call import AwsError, Call
from nightshift.emulator.cloud.refusals.row import API, EC2_GUIDE, Condition, Row
from nightshift.emulator.cloud.refusals.templates import PREFIX, USED, used
from nightshift.emulator.cloud.services.backends import ec2
from nightshift.emulator.cloud.services.launch import types_in_order
from nightshift.emulator.cloud.services.quotas import check_vcpus
from nightshift.emulator.cloud.state import STATE

RUN = ("RunInstances",)
PLACEMENT_GROUPS = 500
PARTITIONS = 7


def _catalogue() -> dict[str, Any]:
    from moto.ec2.models.instance_types import INSTANCE_TYPES

    return INSTANCE_TYPES


def _efa_limit(kind: str) -> int:
    network = _catalogue().get(kind, {}).get("NetworkInfo", {})
    return int((network.get("EfaInfo") or {}).get("MaximumEfaInterfaces") or 0)


def _types(call: Call, data: dict[str, Any]) -> list[str]:
    return types_in_order(call.params.get("MixedInstancesPolicy"), data.get("InstanceType", ""))


def _efa(call: Call) -> str | None:
    data = used(call)
    nics = (data or {}).get("NetworkInterfaces") or []
    count = sum(1 for nic in nics if str(nic.get("InterfaceType", "")).startswith("efa"))
    for kind in _types(call, data) if data and count else ():
        if kind in _catalogue() and count > _efa_limit(kind):
            limit = _efa_limit(kind)
            if not limit:
                return f"{PREFIX}Elastic Fabric Adapter is not supported for instance type '{kind}'"
            return f"{PREFIX}Instance type '{kind}' supports at most {limit} EFA interfaces, given {count}"
    return None


def _cards(call: Call) -> str | None:
    data = used(call)
    for nic in (data or {}).get("NetworkInterfaces") or []:
        for kind in _types(call, data or {}):
            cards = _catalogue().get(kind, {}).get("NetworkInfo", {}).get("MaximumNetworkCards", 64)
            if int(nic.get("NetworkCardIndex") or 0) >= cards:
                return (
                    f"{PREFIX}Network card index {nic['NetworkCardIndex']} exceeds the limit "
                    f"for instance type {kind}"
                )
    return None


def _architecture(call: Call) -> str | None:
    data = used(call) or {}
    image = ec2(call.region).amis.get(data.get("ImageId", ""))
    for kind in _types(call, data) if image is not None else ():
        known = _catalogue().get(kind, {}).get("ProcessorInfo", {}).get("SupportedArchitectures")
        if known and image.architecture not in known:
            return (
                f"{PREFIX}The architecture '{','.join(known)}' of the specified instance type "
                "does not match the "
                f"architecture '{image.architecture}' of the specified AMI."
            )
    return None


def _direct(call: Call) -> tuple[str, str | None, bool]:
    """Type, zone and market of a RunInstances call that names them itself."""
    backend = ec2(call.region)
    zone = (call.params.get("Placement") or {}).get("AvailabilityZone")
    subnet = call.params.get("SubnetId")
    if subnet and subnet in {s.id for s in backend.describe_subnets()}:
        zone = backend.get_subnet(subnet).availability_zone
    spot = (call.params.get("InstanceMarketOptions") or {}).get("MarketType") == "spot"
    return call.params.get("InstanceType", "m1.small"), zone, spot


def _offered(call: Call) -> str | None:
    from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS

    kind, zone, _ = _direct(call)
    offers = INSTANCE_TYPE_OFFERINGS["availability-zone"].get(call.region, ())
    if not zone or "InstanceType" not in call.params or not offers:
        return None
    if any(o["InstanceType"] == kind and o["Location"] == zone for o in offers):
        return None
    return (
        f"Your requested instance type ({kind}) is not supported in your requested "
        f"Availability Zone ({zone})."
    )


def _quota(code: str) -> Condition:
    def refuses(call: Call) -> str | None:
        kind, _, spot = _direct(call)
        try:
            check_vcpus(call.region, kind, spot, call.params.get("MaxCount", 1))
        except AwsError as error:
            return error.message if error.code == code else None
        return None

    return refuses


def _image(call: Call) -> str | None:
    image = call.params.get("ImageId")
    if not image or image.startswith("resolve:ssm:") or image in ec2(call.region).amis:
        return None
    return f"The image id '[{image}]' does not exist"


def _counts(call: Call) -> str | None:
    low, high = call.params.get("MinCount", 1), call.params.get("MaxCount", 1)
    return f"Invalid value '{low}' for minCount. Must be at most maxCount, {high}." if low > high else None


def _partition(call: Call) -> str | None:
    count, strategy = call.params.get("PartitionCount"), call.params.get("Strategy", "cluster")
    if count is not None and strategy != "partition":
        return f"The parameter PartitionCount is not supported for the strategy {strategy}"
    if count is not None and not 1 <= count <= PARTITIONS:
        return f"Invalid value '{count}' for PartitionCount. Must be between 1 and {PARTITIONS}."
    return None


def _placement_name(call: Call) -> str | None:
    name = call.params.get("GroupName") or ""
    if re.fullmatch(r"[\x20-\x7e]{1,255}", name):
        return None
    return "Invalid value for groupName. Placement group names have 1 to 255 ASCII characters."


def _placement_limit(call: Call) -> str | None:
    if len(STATE.placement_groups[call.region]) < PLACEMENT_GROUPS:
        return None
    return f"The maximum number of {PLACEMENT_GROUPS} placement groups has been reached."


def _group(name: str, refuses: Condition, source: str) -> Row:
    return Row(f"capacity-{name}", "autoscaling", USED, "ValidationError", refuses, source)


def _ec2(name: str, operations: tuple[str, ...], code: str, refuses: Condition, source: str) -> Row:
    return Row(name, "ec2", operations, code, refuses, source)


PLACE = ("CreatePlacementGroup",)
LIMITS = "EC2 On-Demand and Spot instance limits pages; fact C38"
ROWS = (
    _group("efa-count", _efa, f"{EC2_GUIDE}/efa-acc-inst-types.html; fact H102"),
    _group("network-card", _cards, f"{EC2_GUIDE}/efa-acc-inst-types.html; fact H103"),
    _group("architecture", _architecture, f"{API} RunInstances; fact I107"),
    _ec2("run-count", RUN, "InvalidParameterValue", _counts, f"{API} RunInstances, MinCount"),
    _ec2("run-image", RUN, "InvalidAMIID.NotFound", _image, f"{API} RunInstances; plain moto: K116"),
    _ec2("run-type-not-in-zone", RUN, "Unsupported", _offered, f"{API} DescribeInstanceTypeOfferings"),
    _ec2("run-vcpu-quota", RUN, "VcpuLimitExceeded", _quota("VcpuLimitExceeded"), LIMITS),
    _ec2(
        "run-spot-quota", RUN, "MaxSpotInstanceCountExceeded", _quota("MaxSpotInstanceCountExceeded"), LIMITS
    ),
    _ec2(
        "placement-name",
        PLACE,
        "InvalidParameterValue",
        _placement_name,
        f"{API} CreatePlacementGroup; fact C40",
    ),
    _ec2(
        "placement-partitions",
        PLACE,
        "InvalidParameterValue",
        _partition,
        f"{EC2_GUIDE}/placement-groups.html",
    ),
    _ec2(
        "placement-more-than-500",
        PLACE,
        "PlacementGroupLimitExceeded",
        _placement_limit,
        f"{EC2_GUIDE}/placement-groups.html; fact C40",
    ),
)

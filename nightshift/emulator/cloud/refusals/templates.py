"""Refusals of launch templates: what is checked when a version is made, and what only when a group
uses it (fact B28)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any

from moto.core.exceptions import ServiceException

from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.refusals.row import API, ASG_GUIDE, EC2_GUIDE, Condition, Row
from nightshift.emulator.cloud.services.backends import ec2, iam
from nightshift.emulator.cloud.services.templates import find

MADE = ("CreateLaunchTemplate", "CreateLaunchTemplateVersion")
USED = ("CreateAutoScalingGroup", "UpdateAutoScalingGroup")
NAME = re.compile(r"[a-zA-Z0-9().\-/_]{3,128}")
USER_DATA_BYTES = 16_384
Check = Callable[[Call, dict[str, Any]], str | None]
PREFIX = "You must use a valid fully-formed launch template. "


def _raw(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _given(call: Call) -> dict[str, Any]:
    return call.params if call.name == "RunInstances" else call.params.get("LaunchTemplateData", {})


def _name(call: Call) -> str | None:
    if NAME.fullmatch(call.params["LaunchTemplateName"]):
        return None
    return "Launch template names have 3 to 128 characters and may have letters, digits and ( ) . - / _"


def _base64(call: Call) -> str | None:
    text = _given(call).get("UserData")
    return "Invalid BASE64 encoding of user data." if text and _raw(text) is None else None


def _user_data(call: Call) -> str | None:
    raw = _raw(_given(call).get("UserData") or "")
    if raw is not None and len(raw) > USER_DATA_BYTES:
        return f"User data is limited to {USER_DATA_BYTES} bytes"
    return None


def _hop_limit(call: Call) -> str | None:
    hops = (_given(call).get("MetadataOptions") or {}).get("HttpPutResponseHopLimit")
    if hops is not None and not 1 <= hops <= 64:
        return f"Invalid value '{hops}' for HttpPutResponseHopLimit. Must be between 1 and 64."
    return None


def spec(call: Call) -> dict[str, Any] | None:
    """The launch template specification that a group call names."""
    policy = call.params.get("MixedInstancesPolicy") or {}
    mixed = (policy.get("LaunchTemplate") or {}).get("LaunchTemplateSpecification")
    return call.params.get("LaunchTemplate") or mixed


def used(call: Call) -> dict[str, Any] | None:
    """The data of the version that a group call names; None when it names none or moto refuses the
    name itself."""
    named = spec(call)
    if not named:
        return None
    try:
        return find(call.region, named).get_version(named.get("Version") or "$Default").data
    except (ServiceException, ValueError):
        return None


def _used(check: Check) -> Condition:
    def refuses(call: Call) -> str | None:
        data = used(call)
        text = check(call, data) if data is not None else None
        return None if text is None else PREFIX + text

    return refuses


def _groups_twice(_call: Call, data: dict[str, Any]) -> str | None:
    if data.get("NetworkInterfaces") and (data.get("SecurityGroupIds") or data.get("SecurityGroups")):
        return (
            "Network interfaces and an instance-level security groups may not be specified "
            "on the same request"
        )
    return None


def _public_address(_call: Call, data: dict[str, Any]) -> str | None:
    nics = data.get("NetworkInterfaces") or []
    if len(nics) > 1 and any(nic.get("AssociatePublicIpAddress") for nic in nics):
        return (
            "The associatePublicIPAddress parameter cannot be specified when launching with "
            "multiple network interfaces."
        )
    return None


def _first_interface(_call: Call, data: dict[str, Any]) -> str | None:
    first = [
        nic
        for nic in data.get("NetworkInterfaces") or []
        if not nic.get("NetworkCardIndex") and not nic.get("DeviceIndex")
    ]
    if any(nic.get("InterfaceType") == "efa-only" for nic in first):
        return "EFA-only interfaces can't be used as the primary network interface."
    return None


def _market(_call: Call, data: dict[str, Any]) -> str | None:
    market = (data.get("InstanceMarketOptions") or {}).get("MarketType")
    target = (data.get("CapacityReservationSpecification") or {}).get("CapacityReservationTarget") or {}
    if market == "capacity-block" and not target:
        return "A capacity reservation target must be specified with the capacity-block market type."
    from nightshift.emulator.cloud.state import STATE

    row = STATE.reservations[_call.region].get(target.get("CapacityReservationId", ""))
    if row is not None and row["ReservationType"] == "capacity-block" and market != "capacity-block":
        return "The market type (purchasing) option is not valid."
    return None


def _reservation(call: Call, data: dict[str, Any]) -> str | None:
    from nightshift.emulator.cloud.state import STATE

    target = (data.get("CapacityReservationSpecification") or {}).get("CapacityReservationTarget") or {}
    wanted = target.get("CapacityReservationId")
    if wanted and wanted not in STATE.reservations[call.region]:
        return f"The capacity reservation '{wanted}' does not exist."
    return None


def _profile(_call: Call, data: dict[str, Any]) -> str | None:
    given = data.get("IamInstanceProfile") or {}
    profiles = iam().instance_profiles.values()
    if given.get("Name") and given["Name"] not in {p.name for p in profiles}:
        return (
            f"Value ({given['Name']}) for parameter iamInstanceProfile.name is invalid. "
            "Invalid IAM Instance Profile name"
        )
    if given.get("Arn") and given["Arn"] not in {p.arn for p in profiles}:
        return (
            f"Value ({given['Arn']}) for parameter iamInstanceProfile.arn is invalid. Invalid "
            "IAM Instance Profile ARN"
        )
    return None


def _image(call: Call, data: dict[str, Any]) -> str | None:
    image = data.get("ImageId", "")
    if image.startswith("resolve:ssm:") or image in ec2(call.region).amis:
        return None
    return (
        f"The image id '[{image}]' does not exist"
        if image
        else "The request must contain the parameter ImageId"
    )


def _root_size(call: Call, data: dict[str, Any]) -> str | None:
    image = ec2(call.region).amis.get(data.get("ImageId", ""))
    for row in data.get("BlockDeviceMappings") or ():
        size = (row.get("Ebs") or {}).get("VolumeSize")
        if image is None or row["DeviceName"] != image.root_device_name or size is None:
            continue
        snapshot = image.ebs_snapshot
        if size < snapshot.volume.size:
            return (
                f"Volume of size {size}GB is smaller than snapshot '{snapshot.id}', expect "
                f"size >= {snapshot.volume.size}GB"
            )
    return None


def _security_group(call: Call, data: dict[str, Any]) -> str | None:
    ids = list(data.get("SecurityGroupIds") or [])
    for nic in data.get("NetworkInterfaces") or ():
        ids += nic.get("Groups") or []
    known = {group.id for group in ec2(call.region).describe_security_groups()}
    gone = [group for group in ids if group not in known]
    return f"The security group '{gone[0]}' does not exist" if gone else None


def _made(name: str, code: str, refuses: Condition, source: str, operations: tuple[str, ...] = MADE) -> Row:
    return Row(f"template-{name}", "ec2", operations, code, refuses, source)


def _in_group(name: str, check: Check, source: str) -> Row:
    return Row(f"template-{name}", "autoscaling", USED, "ValidationError", _used(check), source)


ROWS = (
    _made(
        "name",
        "InvalidLaunchTemplateName.MalformedException",
        _name,
        f"{API} LaunchTemplateName; fact B31",
        MADE[:1],
    ),
    _made(
        "base64", "InvalidUserData.Malformed", _base64, f"{API} RequestLaunchTemplateData, UserData", MADE[1:]
    ),
    _made(
        "user-data",
        "InvalidParameterValue",
        _user_data,
        f"{EC2_GUIDE}/instancedata-add-user-data.html; fact B18",
    ),
    _made("hop-limit", "InvalidParameterValue", _hop_limit, f"{API} HttpPutResponseHopLimit; fact B27"),
    _in_group("groups-twice", _groups_twice, f"{ASG_GUIDE}/create-launch-template.html; plain moto: K116"),
    _in_group("public-address", _public_address, "aws/karpenter-provider-aws PR#5666, PR#5437; fact B23"),
    _in_group("efa-only-first", _first_interface, f"{EC2_GUIDE}/efa-acc-inst-types.html; fact H103"),
    _in_group(
        "market-type", _market, "terraform-aws-modules/terraform-aws-ec2-instance#383, PR#404; fact C32"
    ),
    _in_group("reservation", _reservation, f"{API} CapacityReservationTarget"),
    _in_group("profile", _profile, "hashicorp/terraform-provider-aws#5217, #29866; fact E65"),
    _in_group("image", _image, f"{API} RunInstances, ImageId; plain moto: K116"),
    _in_group("root-size", _root_size, "terraform-aws-modules/terraform-aws-eks#281, #1714; fact B25"),
    _in_group("security-group", _security_group, f"{API} CreateAutoScalingGroup"),
)

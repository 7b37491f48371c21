"""Capacity reservations and capacity blocks, as far as a stack names them. moto has none."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from moto.core.utils import utcnow
from moto.ec2.utils import random_id

from nightshift.emulator.cloud import ACCOUNT
from nightshift.emulator.cloud.call import AwsError, Call
from nightshift.emulator.cloud.services.backends import ec2, spec_tags, tag_rows
from nightshift.emulator.cloud.state import STATE, Handlers, Patch


def _add(call: Call, kind: str, zone: str, count: int, end: Any) -> dict[str, Any]:
    reservation_id, now = random_id("cr"), utcnow()
    arn = f"arn:aws:ec2:{call.region}:{ACCOUNT}:capacity-reservation/{reservation_id}"
    row = {
        "CapacityReservationId": reservation_id,
        "CapacityReservationArn": arn,
        "OwnerId": ACCOUNT,
        "AvailabilityZone": zone,
        "InstanceType": call.params["InstanceType"],
        "InstancePlatform": call.params.get("InstancePlatform", "Linux/UNIX"),
        "Tenancy": "default",
        "TotalInstanceCount": count,
        "AvailableInstanceCount": count,
        "State": "active",
        "StartDate": now,
        "CreateDate": now,
        "EndDate": end,
        "EndDateType": "limited" if end else "unlimited",
        "InstanceMatchCriteria": call.params.get("InstanceMatchCriteria", "open"),
        "ReservationType": kind,
        "EbsOptimized": False,
        "EphemeralStorage": False,
    }
    STATE.reservations[call.region][reservation_id] = row
    tags = spec_tags(call.params.get("TagSpecifications"), "capacity-reservation")
    if tags:
        ec2(call.region).create_tags([reservation_id], tags)
    return _shown(call.region, row)


def _shown(region: str, row: dict[str, Any]) -> dict[str, Any]:
    ended = row["EndDate"] is not None and row["EndDate"] <= utcnow() and row["State"] == "active"
    tags = dict(ec2(region).tags.get(row["CapacityReservationId"], {}))
    return {**row, "Tags": tag_rows(tags), "State": "expired" if ended else row["State"]}


def _create(call: Call) -> dict[str, Any]:
    zone = call.params.get("AvailabilityZone") or f"{call.region}a"
    count, end = int(call.params["InstanceCount"]), call.params.get("EndDate")
    return {"CapacityReservation": _add(call, "default", zone, count, end)}


def _find(call: Call, reservation_id: str) -> dict[str, Any]:
    row = STATE.reservations[call.region].get(reservation_id)
    if row is None:
        text = f"The capacity reservation '{reservation_id}' does not exist."
        raise AwsError("InvalidCapacityReservationId.NotFound", text)
    return row


def _describe(call: Call) -> dict[str, Any]:
    ids = call.params.get("CapacityReservationIds") or list(STATE.reservations[call.region])
    rows = [_shown(call.region, _find(call, i)) for i in ids]
    keys = {"state": "State", "instance-type": "InstanceType", "availability-zone": "AvailabilityZone"}
    for item in call.params.get("Filters", ()):
        key = keys.get(item["Name"])
        if key:
            rows = [row for row in rows if row[key] in item["Values"]]
    return {"CapacityReservations": rows}


def _cancel(call: Call) -> dict[str, Any]:
    _find(call, call.params["CapacityReservationId"])["State"] = "cancelled"
    return {"Return": True}


def add_block(region: str, instance_type: str, zone: str, count: int, hours: float) -> str:
    """A capacity block that is in force now, as if bought earlier; gives its id. For the control API."""
    params = {"InstanceType": instance_type, "InstanceMatchCriteria": "targeted"}
    end = utcnow() + timedelta(hours=hours)
    row = _add(Call("ec2", region, "", None, None, params), "capacity-block", zone, count, end)
    return row["CapacityReservationId"]


HANDLERS: Handlers = {
    ("ec2", "CreateCapacityReservation"): _create,
    ("ec2", "DescribeCapacityReservations"): _describe,
    ("ec2", "CancelCapacityReservation"): _cancel,
}
PATCHES: tuple[Patch, ...] = ()

"""EC2 placement groups. moto has none."""

from __future__ import annotations

from typing import Any

from moto.ec2 import utils as ec2_utils
from moto.ec2.utils import random_id

from nightshift.emulator.cloud import ACCOUNT
from nightshift.emulator.cloud.call import AwsError, Call
from nightshift.emulator.cloud.services.backends import ec2, resource_tags, spec_tags, tag_rows
from nightshift.emulator.cloud.state import STATE, Handlers, Patch


def _row(region: str, group: dict[str, Any]) -> dict[str, Any]:
    return {**group, "Tags": tag_rows(resource_tags(region, group["GroupId"]))}


def _create(call: Call) -> dict[str, Any]:
    name, strategy = call.params["GroupName"], call.params.get("Strategy", "cluster")
    if name in STATE.placement_groups[call.region]:
        raise AwsError("InvalidPlacementGroup.Duplicate", f"The Placement Group '{name}' already exists.")
    group_id = random_id("pg")
    group: dict[str, Any] = {
        "GroupName": name,
        "GroupId": group_id,
        "GroupArn": f"arn:aws:ec2:{call.region}:{ACCOUNT}:placement-group/{name}",
        "State": "available",
        "Strategy": strategy,
    }
    if strategy == "partition":
        group["PartitionCount"] = call.params.get("PartitionCount") or 2
    if strategy == "spread":
        group["SpreadLevel"] = call.params.get("SpreadLevel") or "rack"
    STATE.placement_groups[call.region][name] = group
    tags = spec_tags(call.params.get("TagSpecifications"), "placement-group")
    if tags:
        ec2(call.region).create_tags([group_id], tags)
    return {"PlacementGroup": _row(call.region, group)}


def _unknown(name: str) -> AwsError:
    return AwsError("InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown.")


def _matches(row: dict[str, Any], filters: list[dict[str, Any]]) -> bool:
    keys = {"group-name": "GroupName", "group-arn": "GroupArn", "strategy": "Strategy", "state": "State"}
    tags = {t["Key"]: t["Value"] for t in row["Tags"]}
    for item in filters:
        name, values = item["Name"], item.get("Values", [])
        if name.startswith("tag:"):
            given: Any = tags.get(name[4:])
        elif name == "tag-key":
            given = next((key for key in tags if key in values), None)
        else:
            given = row.get(keys.get(name, ""))
        if given not in values:
            return False
    return True


def _describe(call: Call) -> dict[str, Any]:
    known = STATE.placement_groups[call.region]
    for name in call.params.get("GroupNames", ()):
        if name not in known:
            raise _unknown(name)
    names, ids = call.params.get("GroupNames"), call.params.get("GroupIds")
    rows = [
        _row(call.region, g)
        for g in known.values()
        if (not names or g["GroupName"] in names) and (not ids or g["GroupId"] in ids)
    ]
    return {"PlacementGroups": [r for r in rows if _matches(r, call.params.get("Filters", []))]}


def _delete(call: Call) -> None:
    name = call.params["GroupName"]
    if name not in STATE.placement_groups[call.region]:
        raise _unknown(name)
    for instance in ec2(call.region).all_instances():
        if instance.placement.group_name == name and instance.state not in {"terminated", "shutting-down"}:
            text = f"The placement group '{name}' is in use and may not be deleted."
            raise AwsError("InvalidPlacementGroup.InUse", text)
    del STATE.placement_groups[call.region][name]


ec2_utils.EC2_RESOURCE_TO_PREFIX["placement-group"] = "pg"
ec2_utils.EC2_PREFIX_TO_RESOURCE["pg"] = "placement-group"

HANDLERS: Handlers = {
    ("ec2", "CreatePlacementGroup"): _create,
    ("ec2", "DescribePlacementGroups"): _describe,
    ("ec2", "DeletePlacementGroup"): _delete,
}
PATCHES: tuple[Patch, ...] = ()

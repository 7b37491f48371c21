"""Which instances Systems Manager knows. moto answers no DescribeInstanceInformation.

An instance is known while it runs with a role that lets its agent register; on AWS that takes a minute or
two after the boot, here none. Filters: Systems Manager API reference, DescribeInstanceInformation,
read 2026-12."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from moto.core.utils import utcnow

from nightshift.emulator.cloud.call import AwsError, Call
from nightshift.emulator.cloud.iam import Ask, judge
from nightshift.emulator.cloud.services.backends import ec2, resource_tags
from nightshift.emulator.cloud.state import Handlers, Patch

REGISTER = "ssm:UpdateInstanceInformation"
PAGE = 50
_FIELDS = {"InstanceIds": "InstanceId", "PingStatus": "PingStatus"} | {
    "PlatformTypes": "PlatformType",
    "ResourceType": "ResourceType",
    "AgentVersion": "AgentVersion",
}
_KNOWN = {*_FIELDS, "ActivationIds", "AssociationStatus", "IamRole", "SourceIds", "SourceTypes", "tag-key"}


def _may_register(region: str, instance_id: str) -> bool:
    association = ec2(region).iam_instance_profile_associations.get(instance_id)
    roles = association.iam_instance_profile.roles if association is not None else []
    texts = [
        text
        for role in roles
        for text in (*role.policies.values(), *(one.document for one in role.managed_policies.values()))
    ]
    documents = [json.loads(text) if isinstance(text, str) else text for text in texts]
    return judge(documents, Ask(REGISTER, "*")) == "allow"


def _row(instance: Any) -> dict[str, Any]:
    return {
        "InstanceId": instance.id,
        "PingStatus": "Online",
        "LastPingDateTime": utcnow(),
        "AgentVersion": "3.3.2299.0",
        "IsLatestVersion": True,
        "PlatformType": "Linux",
        "PlatformName": "Ubuntu",
        "PlatformVersion": "22.04",
        "ResourceType": "EC2Instance",
        "IPAddress": instance.private_ip,
        "ComputerName": f"ip-{instance.private_ip.replace('.', '-')}",
    }


def _wanted(call: Call) -> list[tuple[str, list[str]]]:
    """The filters of either form. Raises AWS's errors for keys and ids that it doesn't know."""
    found = [(one["Key"], list(one["Values"])) for one in call.params.get("Filters") or ()]
    found += [
        (one["key"], list(one["valueSet"])) for one in call.params.get("InstanceInformationFilterList") or ()
    ]
    for key, values in found:
        if key not in _KNOWN and not key.startswith("tag:"):
            raise AwsError("InvalidFilterKey", f"The specified key {key} isn't valid.")
        if key in _KNOWN - {*_FIELDS, "tag-key"}:
            raise AwsError("NotImplemented", f"NotImplemented in the emulated AWS: filter {key}")
        unknown = [
            one for one in values if key == "InstanceIds" and not ec2(call.region).get_instance_by_id(one)
        ]
        if unknown:
            raise AwsError("InvalidInstanceId", f"Instances not in a valid state: {', '.join(unknown)}")
    return found


def _fits(region: str, row: Mapping[str, Any], key: str, values: Sequence[str]) -> bool:
    if key in _FIELDS:
        return row[_FIELDS[key]] in values
    tags = resource_tags(region, row["InstanceId"])
    return bool(set(tags) & set(values)) if key == "tag-key" else tags.get(key.removeprefix("tag:")) in values


def _describe(call: Call) -> dict[str, Any]:
    wanted, region = _wanted(call), call.region
    running = [one for one in ec2(region).all_instances() if one.state == "running"]
    rows = [_row(one) for one in running if _may_register(region, one.id)]
    rows = [row for row in rows if all(_fits(region, row, key, values) for key, values in wanted)]
    token = str(call.params.get("NextToken") or "0")
    if not token.isdecimal():
        raise AwsError("InvalidNextToken", "The specified token isn't valid.")
    first, count = int(token), int(call.params.get("MaxResults", PAGE))
    more = {"NextToken": str(first + count)} if first + count < len(rows) else {}
    return {"InstanceInformationList": rows[first : first + count], **more}


HANDLERS: Handlers = {("ssm", "DescribeInstanceInformation"): _describe}
PATCHES: tuple[Patch, ...] = ()

"""Refusals of tags on EC2 resources and groups. Lengths in characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.refusals.row import EC2_GUIDE, Condition, Row

KEY, VALUE, COUNT = 128, 256, 50
SOURCE = f"{EC2_GUIDE}/Using_Tags.html; fact D62"


def _given(call: Call) -> list[Mapping[str, Any]]:
    specs: Sequence[Mapping[str, Any]] = call.params.get("TagSpecifications") or ()
    tags = [tag for spec in specs for tag in spec.get("Tags") or ()]
    return [*(call.params.get("Tags") or ()), *tags]


def _reserved(call: Call) -> str | None:
    if any(str(tag.get("Key", "")).lower().startswith("aws:") for tag in _given(call)):
        return "Tag keys starting with 'aws:' are reserved for internal use"
    return None


def _key(call: Call) -> str | None:
    if any(not 1 <= len(tag.get("Key") or "") <= KEY for tag in _given(call)):
        return f"Tag keys must have 1 to {KEY} characters"
    return None


def _value(call: Call) -> str | None:
    if any(len(tag.get("Value") or "") > VALUE for tag in _given(call)):
        return f"Tag values must have at most {VALUE} characters"
    return None


def _too_many(call: Call) -> str | None:
    return f"The maximum number of tags is {COUNT}" if len(_given(call)) > COUNT else None


EC2 = (
    "CreateTags",
    "CreateVolume",
    "CreateVpc",
    "CreateSubnet",
    "CreateSecurityGroup",
    "CreateLaunchTemplate",
    "CreatePlacementGroup",
    "RunInstances",
    "CreateSnapshot",
)
GROUPS = ("CreateAutoScalingGroup", "CreateOrUpdateTags")


def _ec2(name: str, refuses: Condition) -> Row:
    return Row(f"tag-{name}", "ec2", EC2, "InvalidParameterValue", refuses, SOURCE)


def _group(name: str, refuses: Condition, code: str = "ValidationError") -> Row:
    return Row(f"group-tag-{name}", "autoscaling", GROUPS, code, refuses, SOURCE)


ROWS = (
    _ec2("reserved", _reserved),
    _ec2("key", _key),
    _ec2("value", _value),
    _group("reserved", _reserved),
    _group("count", _too_many, "LimitExceeded"),
)

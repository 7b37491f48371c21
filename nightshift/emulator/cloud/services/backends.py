"""moto's own stores, by region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from moto.autoscaling.models import autoscaling_backends
from moto.ec2.models import ec2_backends
from moto.iam.models import iam_backends

from nightshift.emulator.cloud import ACCOUNT
from nightshift.emulator.cloud.call import AwsError


def ec2(region: str) -> Any:
    """The EC2 store of a region."""
    return ec2_backends[ACCOUNT][region]


def autoscaling(region: str) -> Any:
    """The Auto Scaling store of a region."""
    return autoscaling_backends[ACCOUNT][region]


def iam() -> Any:
    """The IAM store of the account."""
    return iam_backends[ACCOUNT]["aws"]


def find_group(region: str, name: str) -> Any | None:
    """A group by name or ARN; None when there is none."""
    bare = name.rsplit("autoScalingGroupName/", 1)[-1]
    return autoscaling(region).autoscaling_groups.get(bare)


def need_group(region: str, name: str) -> Any:
    """A group by name or ARN. Raises AWS's ValidationError when there is none."""
    group = find_group(region, name)
    if group is None:
        raise AwsError("ValidationError", "AutoScalingGroup name not found - AutoScalingGroup not found")
    return group


def tag_map(tags: Sequence[Mapping[str, str]] | None) -> dict[str, str]:
    """Key/Value or key/value rows as a map."""
    return {t.get("Key", t.get("key", "")): t.get("Value", t.get("value", "")) for t in tags or ()}


def tag_rows(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """A map as Key/Value rows."""
    return [{"Key": k, "Value": v} for k, v in tags.items()]


def spec_tags(specifications: Sequence[Mapping[str, Any]] | None, kind: str) -> dict[str, str]:
    """The tags that a TagSpecification list gives to one resource type."""
    found: dict[str, str] = {}
    for spec in specifications or ():
        if spec.get("ResourceType") == kind:
            found.update(tag_map(spec.get("Tags")))
    return found


def resource_tags(region: str, resource_id: str) -> dict[str, str]:
    """EC2 tags of any EC2 resource."""
    return dict(ec2(region).tags.get(resource_id, {}))

"""The vCPU quotas that a group needs; they're per region, and 0 in a new account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nightshift.catalog.instance_types import Family, InstanceType

Buying = Literal["on-demand", "spot"]
QUOTA_CODES: dict[tuple[Family, Buying], str] = {
    ("P", "on-demand"): "L-417A185B",
    ("G and VT", "on-demand"): "L-DB2E81BA",
    ("P", "spot"): "L-7212CCBC",
    ("G and VT", "spot"): "L-3819A6DF",
}
"""Service Quotas codes of service `ec2` (EC2 User Guide, on-demand and spot limits)."""


@dataclass(frozen=True)
class QuotaNeed:
    """vCPUs that one quota must allow at the least for the group to be up in full."""

    code: str
    name: str
    vcpus: int


def quota_needs(
    kinds: Sequence[InstanceType], on_demand: int, nodes: int, reserved: bool
) -> tuple[QuotaNeed, ...]:
    """The worst case over the group's types. A capacity block brings its own room and needs none."""
    if reserved:
        return ()
    needs = []
    counts: tuple[tuple[Buying, int], ...] = (("on-demand", on_demand), ("spot", nodes - on_demand))
    for (family, buying), code in QUOTA_CODES.items():
        count = dict(counts)[buying]
        most = max((kind.vcpus for kind in kinds if kind.family == family), default=0)
        if most and count:
            needs.append(QuotaNeed(code, f"{buying} {family} instances", most * count))
    return tuple(needs)


def total_needs(groups: Sequence[Sequence[QuotaNeed]]) -> tuple[QuotaNeed, ...]:
    """The sum over groups that may be up together, per quota."""
    sums: dict[str, QuotaNeed] = {}
    for need in (need for group in groups for need in group):
        before = sums.get(need.code)
        sums[need.code] = QuotaNeed(need.code, need.name, need.vcpus + (before.vcpus if before else 0))
    return tuple(sums[code] for code in sorted(sums))

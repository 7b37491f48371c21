"""Refusals of mixed instances policies."""

from __future__ import annotations

from typing import Any

from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.refusals.row import API, Condition, Row

BOTH = ("CreateAutoScalingGroup", "UpdateAutoScalingGroup")
TYPES = 40
ON_DEMAND = frozenset({"prioritized", "lowest-price"})
SPOT = frozenset(
    {"lowest-price", "capacity-optimized", "capacity-optimized-prioritized", "price-capacity-optimized"}
)


def _overrides(call: Call) -> list[dict[str, Any]]:
    policy = call.params.get("MixedInstancesPolicy") or {}
    return (policy.get("LaunchTemplate") or {}).get("Overrides") or []


def _distribution(call: Call) -> dict[str, Any]:
    return (call.params.get("MixedInstancesPolicy") or {}).get("InstancesDistribution") or {}


def _percent(call: Call) -> str | None:
    given = _distribution(call).get("OnDemandPercentageAboveBaseCapacity")
    if given is not None and not 0 <= given <= 100:
        return f"OnDemandPercentageAboveBaseCapacity must be between 0 and 100, given {given}"
    return None


def _strategy(call: Call) -> str | None:
    distribution = _distribution(call)
    for key, known in (("OnDemandAllocationStrategy", ON_DEMAND), ("SpotAllocationStrategy", SPOT)):
        given = distribution.get(key)
        if given is not None and given not in known:
            return f"{key} {given} is invalid. Valid values: {', '.join(sorted(known))}"
    return None


def _pools(call: Call) -> str | None:
    distribution = _distribution(call)
    pools, strategy = (
        distribution.get("SpotInstancePools"),
        distribution.get("SpotAllocationStrategy", "lowest-price"),
    )
    if pools is None:
        return None
    if strategy != "lowest-price":
        return "SpotInstancePools option is only available with the lowest-price allocation strategy."
    return None if 1 <= pools <= 20 else "SpotInstancePools must be between 1 and 20"


def _duplicates(call: Call) -> str | None:
    types = [str(row["InstanceType"]) for row in _overrides(call) if row.get("InstanceType")]
    twice = sorted({kind for kind in types if types.count(kind) > 1})
    return f"The mixed instances policy has duplicate instance types: {', '.join(twice)}" if twice else None


def _too_many(call: Call) -> str | None:
    if len(_overrides(call)) > TYPES:
        return f"You cannot specify more than {TYPES} launch template overrides."
    return None


def _weights(call: Call) -> str | None:
    weights = [row.get("WeightedCapacity") for row in _overrides(call)]
    for weight in weights:
        if weight is not None and not (weight.isdigit() and 1 <= int(weight) <= 999):
            return f"WeightedCapacity must be between 1 and 999, given {weight}"
    if any(weights) and not all(weights):
        return "Either all or none of the launch template overrides must have a weighted capacity."
    return None


def _row(name: str, refuses: Condition, source: str) -> Row:
    return Row(f"mixed-{name}", "autoscaling", BOTH, "ValidationError", refuses, source)


ROWS = (
    _row("percent", _percent, f"{API} InstancesDistribution"),
    _row("strategy", _strategy, f"{API} InstancesDistribution"),
    _row("pools", _pools, f"{API} InstancesDistribution, SpotInstancePools; fact D61"),
    _row("duplicate-types", _duplicates, f"{API} LaunchTemplateOverrides"),
    _row("more-than-40-types", _too_many, f"{API} LaunchTemplate, Overrides; fact D61"),
    _row("weights", _weights, f"{API} LaunchTemplateOverrides, WeightedCapacity; fact D61"),
)

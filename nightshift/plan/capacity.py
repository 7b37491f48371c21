"""How a group buys its nodes: from the stack file's tier, types and capacity to one plan for AWS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from nightshift.catalog.instance_types import InstanceType, instance_type, instance_types
from nightshift.catalog.limits import MIXED_TYPES
from nightshift.catalog.suggest import unknown
from nightshift.catalog.tiers import TIERS
from nightshift.plan.errors import PlanError
from nightshift.plan.interfaces import Interface, efa_interfaces
from nightshift.plan.quotas import QuotaNeed, quota_needs


@dataclass(frozen=True)
class OnDemand:
    """Every node at the list price."""


@dataclass(frozen=True)
class Spot:
    """Every node on spare capacity: cheaper, and AWS may take it back with two minutes' notice."""


@dataclass(frozen=True)
class Mix:
    """The first `on_demand_base` nodes on-demand, of the rest `on_demand_percent` percent, others spot."""

    on_demand_base: int = 0
    on_demand_percent: int = 50


@dataclass(frozen=True)
class CapacityBlock:
    """A reservation bought ahead for a stretch of time, in one zone and of one type. Times aware, UTC."""

    reservation_id: str
    starts: datetime | None = None
    ends: datetime | None = None


Capacity = OnDemand | Spot | Mix | CapacityBlock
Market = Literal["on-demand", "spot", "mixed", "capacity-block"]
ON_DEMAND_STRATEGY = "prioritized"
SPOT_STRATEGY = "capacity-optimized-prioritized"
"""Takes the pools with most room, preferring the file's order of types."""


@dataclass(frozen=True)
class CapacityPlan:
    """What the group's template, mixed-instances policy and placement say.

    `on_demand_base`/`on_demand_percent` are the distribution's two numbers. `reservation` is set for a
    capacity block only, whose template needs the market type besides. `interfaces` has one entry for
    a plain node. `private_subnet` is True with several interfaces: AWS gives such a node no public address.
    """

    market: Market
    types: tuple[str, ...]
    arch: str
    nodes: int
    on_demand_base: int
    on_demand_percent: int
    on_demand_strategy: str
    spot_strategy: str
    reservation: CapacityBlock | None
    placement: Literal["cluster"] | None
    interfaces: tuple[Interface, ...]
    private_subnet: bool
    quotas: tuple[QuotaNeed, ...]
    notes: tuple[str, ...] = ()

    @property
    def efa(self) -> bool:
        """Whether nodes speak EFA to each other, which needs the all-to-itself security group."""
        return any(interface.kind != "interface" for interface in self.interfaces)


def resolve(
    capacity: Capacity,
    *,
    nodes: int,
    region: str,
    tier: str | None = None,
    types: Sequence[str] = (),
    efa: bool = False,
) -> CapacityPlan:
    """The plan for `nodes` nodes of `tier` or of the named `types` (one of the two) in `region`.

    A tier's types that the region or the market doesn't have are left out and noted; a named one is a
    problem. Groups of several nodes, those with EFA, and capacity blocks use one type.
    Raises PlanError with every problem.
    """
    market = _market(capacity)
    alone = _alone(nodes, efa, market)
    if (tier is None) == (not types):
        raise PlanError("give a tier or a list of types, one of the two")
    if tier is not None:
        chosen, notes = _from_tier(tier, region, market)
        chosen, why = _narrowed(chosen, alone, market)
        if no_efa := _efa_problems(chosen, efa):
            raise PlanError(*no_efa)
    else:
        chosen, notes, why = _named(types, region, market, alone, efa), [], []
    base, percent = _distribution(capacity)
    interfaces = efa_interfaces(chosen[0]) if efa else (Interface(0, 0, "interface"),)
    return CapacityPlan(
        market=market,
        types=tuple(kind.name for kind in chosen),
        arch=chosen[0].arch,
        nodes=nodes,
        on_demand_base=base,
        on_demand_percent=percent,
        on_demand_strategy=ON_DEMAND_STRATEGY,
        spot_strategy=SPOT_STRATEGY,
        reservation=capacity if isinstance(capacity, CapacityBlock) else None,
        placement="cluster" if nodes > 1 and market != "capacity-block" else None,
        interfaces=interfaces,
        private_subnet=len(interfaces) > 1,
        quotas=quota_needs(chosen, on_demand_nodes(capacity, nodes), nodes, market == "capacity-block"),
        notes=(*notes, *why),
    )


def _alone(nodes: int, efa: bool, market: Market) -> str | None:
    """Why the group needs nodes of one type, or None when it doesn't."""
    if market == "capacity-block":
        return "a capacity block holds one type"
    if nodes > 1:
        return f"{nodes} nodes work together on one type"
    return "EFA's interfaces fit one type" if efa else None


def _narrowed(
    kinds: list[InstanceType], alone: str | None, market: Market
) -> tuple[list[InstanceType], list[str]]:
    """The tier's first type where the group needs equal nodes; a block's owner has to say which."""
    if alone is None or len(kinds) == 1:
        return kinds, []
    if market == "capacity-block":
        raise PlanError(_one_type(alone, kinds))
    return kinds[:1], [f"{alone}: {kinds[0].name}"]


def _efa_problems(kinds: Sequence[InstanceType], efa: bool) -> list[str]:
    return [
        f"efa: {kind.name} has no EFA interface; leave efa out or choose a larger type"
        for kind in kinds[:1]
        if efa and not kind.efa_max_interfaces
    ]


def on_demand_nodes(capacity: Capacity, nodes: int) -> int:
    """How many of `nodes` are bought on-demand; AWS rounds the share of the rest up."""
    base, percent = _distribution(capacity)
    first = min(base, nodes)
    return first + -(-(nodes - first) * percent // 100)


def needs_private_subnet(type_name: str, efa: bool = True) -> bool:
    """Whether nodes of the type get several interfaces, hence no public address, with EFA as said."""
    return efa and len(efa_interfaces(instance_type(type_name))) > 1


def _market(capacity: Capacity) -> Market:
    if isinstance(capacity, OnDemand):
        return "on-demand"
    if isinstance(capacity, Spot):
        return "spot"
    return "mixed" if isinstance(capacity, Mix) else "capacity-block"


def _distribution(capacity: Capacity) -> tuple[int, int]:
    if isinstance(capacity, Mix):
        return capacity.on_demand_base, capacity.on_demand_percent
    return (0, 0) if isinstance(capacity, Spot) else (0, 100)


def _named(
    types: Sequence[str], region: str, market: Market, alone: str | None, efa: bool
) -> list[InstanceType]:
    table = instance_types()
    problems = [unknown("types", name, table, "the GPU catalog") for name in types if name not in table]
    kinds = [table[name] for name in types if name in table]
    problems += [f"types: {why}" for kind in kinds if (why := _unfit(kind, region, market))]
    problems += [f"types: {name} is listed twice" for name in sorted(set(types)) if types.count(name) > 1]
    problems += _mixing_problems(kinds)
    distinct = list({kind.name: kind for kind in kinds}.values())
    problems += [_one_type(alone, distinct)] if alone and len(distinct) > 1 else []
    problems += _efa_problems(kinds, efa)
    if problems:
        raise PlanError(*problems)
    return kinds


def _from_tier(tier: str, region: str, market: Market) -> tuple[list[InstanceType], list[str]]:
    if tier in instance_types():
        raise PlanError(f'tier: given "{tier}", which is an instance type; write `types: [{tier}]` instead')
    if tier not in TIERS:
        raise PlanError(unknown("tier", tier, TIERS, "Nightshift"))
    reasons = _reasons(tier, region, market)
    left = [instance_type(name) for name, reason in reasons.items() if not reason]
    if not left:
        raise PlanError(_nothing_left(tier, region, market))
    return left, [f"tier {tier} without {reason}" for reason in reasons.values() if reason]


def _reasons(tier: str, region: str, market: Market) -> dict[str, str | None]:
    """Why each of the tier's types can't be had, or None when it can."""
    return {name: _unfit(instance_type(name), region, market) for name in TIERS[tier].types}


def _nothing_left(tier: str, region: str, market: Market) -> str:
    others = [name for name in TIERS if not all(_reasons(name, region, market).values())]
    offered = any(region in instance_type(name).regions for name in TIERS[tier].types)
    where = f"sold as {market} in {region}" if offered else f"offered in {region}"
    remedy = f"tiers that are: {', '.join(others)}" if others else "choose another region"
    return f"tier {tier}: no type of it is {where}; {remedy}"


def _unfit(kind: InstanceType, region: str, market: Market) -> str | None:
    if kind.retired:
        return f"{kind.name}: no region offers it any more"
    if region not in kind.regions:
        return f"{kind.name}: not offered in {region}; offered in {', '.join(sorted(kind.regions))}"
    sold = {
        "on-demand": kind.on_demand,
        "spot": kind.spot,
        "mixed": kind.on_demand and kind.spot,
        "capacity-block": kind.capacity_block,
    }
    return None if sold[market] else f"{kind.name}: not sold as {market}"


def _mixing_problems(kinds: Sequence[InstanceType]) -> list[str]:
    problems = []
    if len(kinds) > MIXED_TYPES.value:
        problems.append(f"types: {len(kinds)} are listed, AWS allows {MIXED_TYPES.value} in one group")
    for what, values in (
        ("architecture", {kind.arch for kind in kinds}),
        ("number of GPUs", {kind.gpu_count for kind in kinds}),
    ):
        if len(values) > 1:
            listed = ", ".join(sorted(str(value) for value in values))
            problems.append(
                f"types: they differ in {what} ({listed}); one group runs one image and one launch line"
            )
    return problems


def _one_type(why: str, kinds: Sequence[InstanceType]) -> str:
    return f"types: {why}; name one of {', '.join(kind.name for kind in kinds)} as `types: [...]`"

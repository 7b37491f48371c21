"""The hourly rate of a group's nodes by the way it buys them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from nightshift.catalog.instance_types import HourPrice, SpotPrice, instance_type
from nightshift.plan.capacity import CapacityBlock, CapacityPlan, Mix, OnDemand, Spot, on_demand_nodes


@dataclass(frozen=True)
class Source:
    """Where a price is from, the region where it holds, its date; `assumed` where another was asked."""

    name: str
    region: str
    date: str
    assumed: bool

    def __str__(self) -> str:
        where = f"assumed from {self.region}" if self.assumed else self.region
        return f"{self.name}, {where}, {self.date}"


@dataclass(frozen=True)
class Rate:
    """USD per node-hour for `nodes` of the group. `prepaid_hours` is set where a block is paid for
    whether it's used or not: its hours in the month."""

    nodes: int
    type_name: str
    buying: str
    likely: Decimal
    low: Decimal
    high: Decimal
    source: Source
    prepaid_hours: Decimal | None = None


def compute_rates(
    plan: CapacityPlan, region: str, start: datetime, end: datetime
) -> tuple[tuple[Rate, ...], tuple[str, ...]]:
    """The rates of the plan in the month [start, end), and what has no known price.

    The first type is the likely one; the others widen the range, since AWS may choose them.
    """
    if plan.reservation is not None:
        return _block(plan, plan.reservation, region, start, end)
    regular = on_demand_nodes(_capacity(plan), plan.nodes)
    rates, missing = [], []
    for count, price in ((regular, _on_demand), (plan.nodes - regular, _spot)):
        if count:
            rate, why = price(plan, count, region)
            rates += [rate] if rate else []
            missing += [why] if why else []
    return tuple(rates), tuple(missing)


def _capacity(plan: CapacityPlan) -> OnDemand | Spot | Mix:
    if plan.market == "mixed":
        return Mix(plan.on_demand_base, plan.on_demand_percent)
    return Spot() if plan.market == "spot" else OnDemand()


def _on_demand(plan: CapacityPlan, count: int, region: str) -> tuple[Rate | None, str | None]:
    prices = {name: instance_type(name).on_demand_price(region) for name in plan.types}
    known = [(name, price) for name, price in prices.items() if price]
    if not known:
        return None, f"no on-demand price is known for {', '.join(plan.types)}"
    name, first = known[0]
    usd = [price.usd for _, price in known]
    return Rate(
        count, name, "on-demand", first.usd, min(first.usd, *usd), max(first.usd, *usd), _from(first)
    ), None


def _spot(plan: CapacityPlan, count: int, region: str) -> tuple[Rate | None, str | None]:
    prices = {name: instance_type(name).spot_price(region) for name in plan.types}
    known = [(name, price) for name, price in prices.items() if price]
    if not known:
        return None, f"no spot price is known for {', '.join(plan.types)}"
    name, first = known[0]
    low, high = min(price.low for _, price in known), max(price.high for _, price in known)
    return Rate(count, name, "spot", first.likely, low, high, _from(first)), None


def _block(
    plan: CapacityPlan, block: CapacityBlock, region: str, start: datetime, end: datetime
) -> tuple[tuple[Rate, ...], tuple[str, ...]]:
    name = plan.types[0]
    price = instance_type(name).block_price(region)
    if price is None:
        return (), (f"no Capacity Block rate is known for {name}",)
    seconds = (min(block.ends or end, end) - max(block.starts or start, start)).total_seconds()
    hours = Decimal(max(0, int(seconds))) / 3600
    rate = Rate(
        plan.nodes,
        name,
        "capacity block, paid up front",
        price.usd,
        price.usd,
        price.usd,
        _from(price),
        hours,
    )
    return (rate,), ()


def _from(price: HourPrice | SpotPrice) -> Source:
    return Source(price.source, price.region, price.date, price.assumed)

"""What a node-second costs: by its own type and market, and as the forecast sees the group."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from nightshift.catalog.instance_types import instance_type
from nightshift.catalog.prices import unit_price
from nightshift.plan.compute import compute_rates
from nightshift.plan.forecast import GroupCost, month_bounds

HOUR = Decimal(3_600)


@dataclass(frozen=True)
class Rates:
    """USD an hour of one node of a group. `usual`: as forecast; `disk` and `address` are beside the machine.

    `prepaid`: (hours, USD an hour of one node) of a capacity block, paid whether it is used or not.
    """

    usual: Decimal
    disk: Decimal
    address: Decimal
    prepaid: tuple[Decimal, Decimal] | None = None

    @property
    def beside(self) -> Decimal:
        """Disk and address."""
        return self.disk + self.address


def rates_of(cost: GroupCost, region: str, start: int, end: int) -> Rates:
    """The rates of a group in the span. A price that nobody knows counts as nothing, as in the forecast."""
    low, high = (datetime.fromtimestamp(at, UTC) for at in (start, end))
    found, _ = compute_rates(cost.capacity, region, low, high)
    nodes = cost.calendar.nodes
    blocks = [rate for rate in found if rate.prepaid_hours is not None]
    usual = sum((rate.likely * rate.nodes for rate in found if rate not in blocks), Decimal()) / nodes
    disk = unit_price("gp3-gib", region).usd * cost.root_gib / month_hours(start)
    public = cost.public_address and not cost.capacity.private_subnet
    address = unit_price("ipv4-hour", region).usd if public else Decimal()
    prepaid = (blocks[0].prepaid_hours or Decimal(), blocks[0].likely) if blocks else None
    return Rates(usual, disk, address, prepaid)


def own_rate(type_name: str, market: str, region: str) -> Decimal:
    """USD an hour of this very machine; a block's is paid already."""
    kind = instance_type(type_name)
    if market == "capacity-block":
        return Decimal()
    if market == "spot":
        spot = kind.spot_price(region)
        return spot.likely if spot else Decimal()
    regular = kind.on_demand_price(region)
    return regular.usd if regular else Decimal()


def month_hours(at: int) -> Decimal:
    """Hours of the UTC month in which `at` lies: a GiB-month is spread over them."""
    day = datetime.fromtimestamp(at, UTC)
    first, last = month_bounds(day.year, day.month)
    return Decimal(int((last - first).total_seconds())) / HOUR

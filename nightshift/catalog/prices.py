"""Prices beside the machines: disks, snapshots, addresses and NAT, with unit, region, source and date.

Rule for a region without a price of its own: eu-* takes eu-west-1's, every other takes us-east-1's, and
what is missing there takes us-east-1's. Such a price says `assumed`. A GB of the price list is a GiB.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Literal

Item = Literal[
    "gp3-gib",
    "gp3-iops",
    "gp3-throughput",
    "io2-gib",
    "io2-iops",
    "snapshot-gib",
    "ipv4-hour",
    "nat-hour",
    "nat-gib",
]
FREE_GP3_IOPS = 3_000
"""IOPS that every gp3 volume brings along without charge."""
FREE_GP3_THROUGHPUT = 125
"""MiB/s that every gp3 volume brings along without charge."""
IO2_FIRST_TIER_IOPS = 32_000
"""The known io2 IOPS price holds up to this many; the cheaper tiers above weren't found."""
NOT_COUNTED = (
    "what the buckets hold and their requests",
    "log lines, metrics and alarms",
    "traffic to the internet, to other regions and, behind NAT, per GiB",
    "taxes, credits and savings plans",
)
"""What a month costs besides, and no stack file says how much of it there will be."""


@dataclass(frozen=True)
class UnitPrice:
    """USD per unit; `region` is where it holds, `assumed` when another region was asked for."""

    usd: Decimal
    unit: str
    region: str
    date: str
    source: str
    assumed: bool = False


_LIST = ("2026-07-17", "AWS price list, by a public catalog")
_GOLDEN = ("2024-07-01", "a public cost tool's recorded prices")
_AUDIT = ("2026-09", "a public price audit")
_UNITS: MappingProxyType[Item, tuple[str, tuple[str, str]]] = MappingProxyType(
    {
        "gp3-gib": ("GiB-month", _LIST),
        "gp3-iops": ("IOPS-month", _GOLDEN),
        "gp3-throughput": ("MiB/s-month", _GOLDEN),
        "io2-gib": ("GiB-month", _LIST),
        "io2-iops": ("IOPS-month", _GOLDEN),
        "snapshot-gib": ("GiB-month", _LIST),
        "ipv4-hour": ("address-hour", _AUDIT),
        "nat-hour": ("gateway-hour", _AUDIT),
        "nat-gib": ("GiB", _GOLDEN),
    }
)
_USD: MappingProxyType[Item, dict[str, str]] = MappingProxyType(
    {
        "gp3-gib": {"us-east-1": "0.08", "us-west-2": "0.08", "eu-west-1": "0.088"},
        "gp3-iops": {"us-east-1": "0.005"},
        "gp3-throughput": {"us-east-1": "0.04"},
        "io2-gib": {"us-east-1": "0.125", "us-west-2": "0.125", "eu-west-1": "0.138"},
        "io2-iops": {"us-east-1": "0.065"},
        "snapshot-gib": {"us-east-1": "0.05", "eu-west-1": "0.05"},
        "ipv4-hour": {"us-east-1": "0.005", "us-west-2": "0.005", "eu-west-1": "0.005"},
        "nat-hour": {"us-east-1": "0.045", "eu-west-1": "0.048"},
        "nat-gib": {"us-east-1": "0.045"},
    }
)


def unit_price(item: Item, region: str) -> UnitPrice:
    """The price of one unit of `item` in `region`, or the nearest known one marked assumed."""
    unit, (date, source) = _UNITS[item]
    known = _USD[item]
    order = [region, "eu-west-1"] if region.startswith("eu-") else [region]
    at = next((name for name in order if name in known), "us-east-1")
    return UnitPrice(Decimal(known[at]), unit, at, date, source, assumed=at != region)

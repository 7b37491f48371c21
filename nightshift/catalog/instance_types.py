"""The GPU instance types of EC2, read once from the table beside this file.

The table was gathered on 2026-11-30 from public data: hardware and offers as DescribeInstanceTypes gave
them in 2026-10, prices with a date each. An empty cell means not found; nothing in it is guessed.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

from nightshift.catalog.suggest import unknown

Family = Literal["P", "G and VT"]
_TABLE = Path(__file__).with_name("instance_types.csv")


@dataclass(frozen=True)
class HourPrice:
    """USD per hour of one instance; `region` is where the price holds, `assumed` when another was asked."""

    usd: Decimal
    region: str
    date: str
    assumed: bool
    source: str


@dataclass(frozen=True)
class SpotPrice:
    """A spot price can't be known ahead: `likely` is the median of one snapshot, between `low` and `high`
    (the on-demand price). USD per hour."""

    low: Decimal
    likely: Decimal
    high: Decimal
    region: str
    date: str
    assumed: bool
    source: str


@dataclass(frozen=True)
class InstanceType:
    """One row of the table. Memory in GiB, disks in GB; `None` where the source has no figure."""

    name: str
    status: str
    gpu_model: str
    gpu_count: Decimal
    gpu_memory_gib: Decimal
    compute_capability: tuple[int, int]
    gpu_interconnect: str
    vcpus: int
    memory_gib: Decimal
    arch: str
    nvme_gb: int
    efa_max_interfaces: int | None
    network_cards: int | None
    on_demand: bool
    spot: bool
    capacity_block: bool
    regions: frozenset[str]
    zone_ids: Mapping[str, frozenset[str]]
    cells: Mapping[str, str]

    @property
    def family(self) -> Family:
        """The vCPU quota that the type counts against; g5 and g6 are G, not P."""
        return "P" if self.name.startswith("p") else "G and VT"

    @property
    def retired(self) -> bool:
        """True once no region offers it."""
        return not self.regions

    @property
    def efa(self) -> bool:
        """Whether the type has an EFA interface."""
        return self.cells["efa_supported"] == "yes"

    def on_demand_price(self, region: str) -> HourPrice | None:
        """The on-demand price, or the nearest known one marked assumed; None when none is known.

        Rule: the region's own price; for eu-* the table's nearest European one; else us-east-1's.
        """
        return _on_demand(self, region)

    def spot_price(self, region: str) -> SpotPrice | None:
        """The price range of a snapshot, else from the advisor's savings; None when neither is known."""
        return _spot(self, region)

    def block_price(self, region: str) -> HourPrice | None:
        """The Capacity Block rate, the region's own or the highest known one marked assumed."""
        rates = self.block_rates
        if not rates:
            return None
        at = region if region in rates else max(rates, key=lambda name: (rates[name], name))
        return HourPrice(rates[at], at, self.cells["cb_date"], at != region, "EC2 Capacity Blocks price page")

    @cached_property
    def block_rates(self) -> dict[str, Decimal]:
        """Capacity Block USD per instance-hour by region; UltraServer rates (`region:size`) are left out."""
        pairs = (pair.split("=") for pair in self.cells["cb_usd_hr_by_region"].split(";") if pair)
        return {region: Decimal(rate) for region, rate in pairs if ":" not in region}


@lru_cache(maxsize=1)
def instance_types() -> Mapping[str, InstanceType]:
    """All types by name, in the table's order."""
    with _TABLE.open(newline="", encoding="utf-8") as table:
        return {row["instance_type"]: _record(row) for row in csv.DictReader(table)}


def instance_type(name: str) -> InstanceType:
    """The type called `name`. Raises KeyError whose text suggests a close match."""
    types = instance_types()
    if name not in types:
        raise KeyError(unknown("instance type", name, types, "the GPU catalog"))
    return types[name]


def _record(row: Mapping[str, str]) -> InstanceType:
    major, minor = row["compute_capability"].split(".")
    offered = row["regions_offered"]
    return InstanceType(
        name=row["instance_type"],
        status=row["status"],
        gpu_model=row["gpu_model"],
        gpu_count=Decimal(row["gpu_count"]),
        gpu_memory_gib=Decimal(row["gpu_mem_gib_per_gpu_api"] or row["gpu_mem_gb_per_gpu_nominal"]),
        compute_capability=(int(major), int(minor)),
        gpu_interconnect=row["gpu_interconnect"],
        vcpus=int(row["vcpus"]),
        memory_gib=Decimal(row["memory_gib"]),
        arch=row["architecture"],
        nvme_gb=int(row["local_nvme_gb"]),
        efa_max_interfaces=_integer(row["efa_max_interfaces"]),
        network_cards=_integer(row["network_cards_max"]),
        on_demand=row["on_demand_supported"] == "yes",
        spot=row["spot_supported"] == "yes",
        capacity_block=row["capacity_block_supported"] == "yes",
        regions=frozenset() if offered.startswith("none") else frozenset(offered.split()),
        zone_ids=_zone_ids(row),
        cells=row,
    )


def _integer(cell: str) -> int | None:
    return int(cell) if cell else None


def _zone_ids(row: Mapping[str, str]) -> dict[str, frozenset[str]]:
    columns = {"us-east-1": "us_east_1", "us-west-2": "us_west_2", "eu-west-1": "eu_west_1"}
    return {region: frozenset(row[f"az_ids_{column}"].split()) for region, column in columns.items()}


def _on_demand(kind: InstanceType, region: str) -> HourPrice | None:
    cells = kind.cells
    known = {
        "us-east-1": (cells["od_usd_hr_us_east_1"], cells["od_date_us_east_1"]),
        "us-west-2": (cells["od_usd_hr_us_west_2"], cells["od_date_us_west_2"]),
        "eu-west-1": (cells["od_usd_hr_eu_west_1"], cells["od_date_eu"]),
        cells["od_nearest_eu_region"]: (cells["od_usd_hr_nearest_eu"], cells["od_date_eu"]),
    }
    order = [region]
    if region.startswith("eu-"):
        order += ["eu-west-1", cells["od_nearest_eu_region"]]
    for at in [*order, "us-east-1"]:
        usd, date = known.get(at, ("", ""))
        if usd:
            return HourPrice(Decimal(usd), at, date, at != region, "EC2 price list")
    return None


def _spot(kind: InstanceType, region: str) -> SpotPrice | None:
    if not kind.spot:
        return None
    high = kind.on_demand_price(region)
    for at, column in (
        (region, region.replace("-", "_")),
        ("us-east-1", "us_east_1"),
        ("us-west-2", "us_west_2"),
    ):
        median = kind.cells.get(f"spot_usd_hr_{column}_median")
        if median:
            low, likely = Decimal(kind.cells[f"spot_usd_hr_{column}_min"]), Decimal(median)
            most = max(high.usd, likely) if high else likely
            date = kind.cells["spot_date"].removeprefix("one snapshot, ").replace("..", " to ")
            return SpotPrice(low, likely, most, at, date, at != region, "one spot price snapshot")
    return _from_advisor(kind, region, high)


def _from_advisor(kind: InstanceType, region: str, high: HourPrice | None) -> SpotPrice | None:
    for at in (region, "us-east-1"):
        saved = kind.cells.get(f"spot_advisor_savings_pct_{at.replace('-', '_')}")
        if saved and high:
            likely = high.usd * (100 - int(saved)) / 100
            date = kind.cells["spot_advisor_date"]
            return SpotPrice(
                likely, likely, high.usd, at, date, at != region, f"Spot Advisor, {saved}% saved"
            )
    return None

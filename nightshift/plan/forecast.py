"""What a month costs: hours from the calendar, prices from the catalog, every line with its source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from nightshift.catalog.instance_types import instance_type
from nightshift.catalog.prices import (
    FREE_GP3_IOPS,
    FREE_GP3_THROUGHPUT,
    IO2_FIRST_TIER_IOPS,
    NOT_COUNTED,
    Item,
    UnitPrice,
    unit_price,
)
from nightshift.plan.calendar import Calendar
from nightshift.plan.capacity import CapacityPlan
from nightshift.plan.compute import Rate, Source, compute_rates
from nightshift.plan.instants import UTC

CENT = Decimal("0.01")
SNAPSHOT_CHANGE_PERCENT = 5
"""Assumed: how much of a volume changes between two snapshots. The first holds the whole volume."""


@dataclass(frozen=True)
class GroupCost:
    """A group as the forecast sees it: sizes in GiB, `drain_minutes` are billed after each shift's end.

    `boot_minutes` lie inside the shift: paid, and no training yet.
    """

    name: str
    calendar: Calendar
    capacity: CapacityPlan
    root_gib: int
    boot_minutes: int = 5
    drain_minutes: int = 10
    public_address: bool = True
    gpu_hours_monthly: int | None = None


@dataclass(frozen=True)
class VolumeCost:
    """A volume or a pool of `count`. `snapshots_kept` is 0 without a snapshot policy."""

    name: str
    size_gib: int
    count: int = 1
    kind: Literal["gp3", "io2"] = "gp3"
    iops: int | None = None
    throughput: int | None = None
    snapshots_kept: int = 0


@dataclass(frozen=True)
class Line:
    """One line of the bill; `usd` is rounded to the cent, `low_usd` to `high_usd` is its range.

    `kept`: what it pays for outlives a destroy.
    """

    what: str
    quantity: Decimal
    unit: str
    unit_usd: Decimal
    usd: Decimal
    source: str
    low_usd: Decimal
    high_usd: Decimal
    price_date: str
    assumed_from: str | None
    kept: bool = False


@dataclass(frozen=True)
class GroupHours:
    """Node-hours of a group in the month: up by its shifts, of these booting, and draining after them."""

    name: str
    up: Decimal
    boot: Decimal
    drain: Decimal


@dataclass(frozen=True)
class Forecast:
    """The month (UTC, as AWS bills it): likely, lowest and highest sum, and the same never going down."""

    year: int
    month: int
    lines: tuple[Line, ...]
    hours: Decimal
    usd: Decimal
    low_usd: Decimal
    high_usd: Decimal
    always_on_usd: Decimal
    group_hours: tuple[GroupHours, ...]
    assumptions: tuple[str, ...]
    not_counted: tuple[str, ...]

    @property
    def kept_usd(self) -> Decimal:
        """What the volumes and their snapshots go on costing after a destroy."""
        return sum((line.usd for line in self.lines if line.kept), Decimal())


def forecast(
    groups: Sequence[GroupCost],
    volumes: Sequence[VolumeCost],
    *,
    region: str,
    year: int,
    month: int,
    nat: bool = False,
    snapshot_change_percent: int = SNAPSHOT_CHANGE_PERCENT,
) -> Forecast:
    """The bill of one calendar month in UTC. Overrides don't count: it's what the file says.

    `nat` prices a NAT gateway and its address, which stand all month. `always_on_usd` counts the same
    things with every node up all month.
    """
    start, end = month_bounds(year, month)
    whole = Decimal(_seconds(start, end)) / 3600
    spent = [_group_hours(group, start, end) for group in groups]
    stored = [replace(line, kept=True) for line in _volume_lines(volumes, region, snapshot_change_percent)]
    fixed = [*stored, *_nat_lines(region, whole, nat)]
    lines, missing, always = [], [], sum((line.usd for line in fixed), Decimal())
    for group, hours in zip(groups, spent, strict=True):
        rates, unpriced = compute_rates(group.capacity, region, start, end)
        missing += [f"{group.name}: {why}" for why in unpriced]
        nodes = group.calendar.nodes
        lines += _group_lines(group, rates, region, (hours.up + hours.drain) / nodes, whole)
        always += sum((line.usd for line in _group_lines(group, rates, region, whole, whole)), Decimal())
    lines += fixed
    return Forecast(
        year=year,
        month=month,
        lines=tuple(lines),
        hours=sum((hours.up + hours.drain for hours in spent), Decimal()),
        usd=sum((line.usd for line in lines), Decimal()),
        low_usd=sum((line.low_usd for line in lines), Decimal()),
        high_usd=sum((line.high_usd for line in lines), Decimal()),
        always_on_usd=always,
        group_hours=tuple(spent),
        assumptions=(
            *_assumptions(groups, volumes, snapshot_change_percent),
            *_caps(groups, spent),
        ),
        not_counted=(*missing, *NOT_COUNTED),
    )


def month_bounds(year: int, month: int) -> tuple[datetime, datetime]:
    """The month's first instant and the next month's, UTC."""
    following = (year + 1, 1) if month == 12 else (year, month + 1)
    return datetime(year, month, 1, tzinfo=UTC), datetime(*following, 1, tzinfo=UTC)


def _seconds(start: datetime, end: datetime) -> int:
    """Exact: edges lie on whole seconds."""
    return int((end - start).total_seconds())


def _group_hours(group: GroupCost, start: datetime, end: datetime) -> GroupHours:
    calendar = group.calendar.without_override()
    nodes = calendar.nodes
    up = sum(_seconds(first, last) for first, last in calendar.intervals(start, end))
    events = calendar.events(start, end)
    ups = sum(1 for event in events if event.kind == "up")
    boot = min(up, ups * group.boot_minutes * 60)
    drain = min((len(events) - ups) * group.drain_minutes * 60, _seconds(start, end) - up)
    return GroupHours(group.name, *(Decimal(each * nodes) / 3600 for each in (up, boot, drain)))


def _group_lines(
    group: GroupCost, rates: Sequence[Rate], region: str, hours: Decimal, whole: Decimal
) -> Iterator[Line]:
    """The lines of a group whose nodes are each billed for `hours` of the month's `whole`."""
    nodes = group.calendar.nodes
    for rate in rates:
        quantity = rate.prepaid_hours if rate.prepaid_hours is not None else hours
        yield _line(
            f"{group.name}: {rate.nodes} x {rate.type_name} {rate.buying}",
            quantity * rate.nodes,
            "node-hour",
            rate.likely,
            rate.source,
            low=rate.low,
            high=rate.high,
        )
    disk = unit_price("gp3-gib", region)
    yield _priced(f"{group.name}: root disks", group.root_gib * nodes * hours / whole, disk)
    if group.public_address and not group.capacity.private_subnet:
        yield _priced(f"{group.name}: public addresses", hours * nodes, unit_price("ipv4-hour", region))


def _volume_lines(volumes: Sequence[VolumeCost], region: str, change_percent: int) -> Iterator[Line]:
    for volume in volumes:
        label = f"volume {volume.name}" if volume.count == 1 else f"volume {volume.name} x {volume.count}"
        for item, each in _volume_quantities(volume):
            suffix = {"gib": "", "iops": " IOPS", "throughput": " throughput"}[item.rsplit("-", 1)[1]]
            yield _priced(label + suffix, Decimal(each * volume.count), unit_price(item, region))
        if volume.snapshots_kept:
            stored = Decimal(volume.size_gib * volume.count)
            stored *= 1 + Decimal(change_percent * (volume.snapshots_kept - 1)) / 100
            yield _priced(f"{label} snapshots", stored, unit_price("snapshot-gib", region))


def _volume_quantities(volume: VolumeCost) -> Iterator[tuple[Item, int]]:
    if volume.kind == "io2":
        yield "io2-gib", volume.size_gib
        yield "io2-iops", volume.iops or 0
        return
    yield "gp3-gib", volume.size_gib
    if (volume.iops or 0) > FREE_GP3_IOPS:
        yield "gp3-iops", (volume.iops or 0) - FREE_GP3_IOPS
    if (volume.throughput or 0) > FREE_GP3_THROUGHPUT:
        yield "gp3-throughput", (volume.throughput or 0) - FREE_GP3_THROUGHPUT


def _nat_lines(region: str, whole: Decimal, nat: bool) -> Iterator[Line]:
    if nat:
        yield _priced("NAT gateway", whole, unit_price("nat-hour", region))
        yield _priced("NAT gateway's address", whole, unit_price("ipv4-hour", region))


def _priced(what: str, quantity: Decimal, price: UnitPrice) -> Line:
    source = Source(price.source, price.region, price.date, price.assumed)
    return _line(what, quantity, price.unit, price.usd, source)


def _line(
    what: str,
    quantity: Decimal,
    unit: str,
    usd: Decimal,
    source: Source,
    low: Decimal | None = None,
    high: Decimal | None = None,
) -> Line:
    cheapest, dearest = usd if low is None else low, usd if high is None else high
    sums = (cents(quantity * each) for each in (usd, cheapest, dearest))
    total, least, most = sums
    assumed = source.region if source.assumed else None
    return Line(what, quantity, unit, usd, total, str(source), least, most, source.date, assumed)


def cents(usd: Decimal) -> Decimal:
    """Rounded as a bill rounds: half a cent up."""
    return usd.quantize(CENT, rounding=ROUND_HALF_UP)


def _assumptions(
    groups: Sequence[GroupCost], volumes: Sequence[VolumeCost], change_percent: int
) -> tuple[str, ...]:
    found = ["a month is a calendar month in UTC, as AWS bills it"]
    found += [
        f"{group.name}: {group.drain_minutes} minutes of drain are billed after each shift; booting takes "
        f"some {group.boot_minutes} minutes of each (`boot` in the file is the longest wait, not the usual)"
        for group in groups
    ]
    if any(group.capacity.market in ("spot", "mixed") for group in groups):
        found.append("spot prices move: the range runs from the lowest price seen to the on-demand price")
    if any(volume.snapshots_kept for volume in volumes):
        found.append(
            f"snapshots: the first holds the whole volume, each further one {change_percent} % of it"
        )
    if any(volume.kind == "io2" and (volume.iops or 0) > IO2_FIRST_TIER_IOPS for volume in volumes):
        found.append(f"io2 IOPS above {IO2_FIRST_TIER_IOPS} are cheaper than counted here")
    return tuple(found)


def _caps(groups: Sequence[GroupCost], spent: Sequence[GroupHours]) -> Iterator[str]:
    """What a cap on GPU-hours leaves of the shifts: said, not subtracted: it falls on the month's end."""
    for group, hours in zip(groups, spent, strict=True):
        cap = group.gpu_hours_monthly
        if cap is None:
            continue
        gpus = instance_type(group.capacity.types[0]).gpu_count
        used = (hours.up * gpus).quantize(Decimal(1))
        if used <= cap:
            yield f"{group.name}: its shifts use {used} of the {cap} GPU-hours that gpu_hours_monthly allows"
            continue
        yield (
            f"{group.name}: its shifts would use {used} GPU-hours; gpu_hours_monthly releases it at {cap}, "
            f"after {cap / used:.0%} of them, and the sums above don't count that"
        )


def saved_percent(usd: Decimal, always_on_usd: Decimal) -> int:
    """How much less than up all the time, in whole percent, rounded; 100 only where nothing is billed."""
    if not always_on_usd:
        return 0
    percent = int(((1 - usd / always_on_usd) * 100).to_integral_value(ROUND_HALF_UP))
    return min(percent, 99) if cents(usd) else percent

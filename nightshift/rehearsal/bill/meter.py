"""Bill and forecast of the rehearsed time, line by line, and the lines between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from nightshift.plan.forecast import GroupCost, forecast
from nightshift.rehearsal.bill import snapshots
from nightshift.rehearsal.bill.causes import Word, differences, unserved
from nightshift.rehearsal.bill.lives import Life, lives_of
from nightshift.rehearsal.bill.rates import HOUR, Rates, month_hours, own_rate, rates_of
from nightshift.rehearsal.bill.sums import Entry, Reason, Sums
from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.expect import Expect
from nightshift.rehearsal.invariants.spans import Span
from nightshift.rehearsal.story import Bill, Event
from nightshift.settings.to_plan import group_costs, needs_nat, volume_costs

if TYPE_CHECKING:
    from nightshift.settings.models import Stack

OTHER = "another type or market than the forecast's first"
FEWER = "snapshots come one by one, the forecast counts all that are to be kept from the first day on"


@dataclass(frozen=True)
class Metered:
    """One group's lives and what was planned for it, in the rehearsed time. `ends`: shifts that end in it."""

    cost: GroupCost
    rates: Rates
    lives: tuple[Life, ...]
    windows: tuple[Span, ...]
    ends: int

    @property
    def nodes(self) -> int:
        """How many it is to have in a shift."""
        return self.cost.calendar.nodes

    @property
    def drain_s(self) -> int:
        """What the forecast allows a node after a shift."""
        return 60 * self.cost.drain_minutes

    @property
    def planned_s(self) -> int:
        """Node-seconds of its shifts and drains."""
        return self.nodes * (sum(end - start for start, end in self.windows) + self.ends * self.drain_s)

    @property
    def hourly(self) -> Decimal:
        """A node-hour as the forecast counts it."""
        return self.rates.usual + self.rates.beside


def bill_of(
    stack: Stack, site: Site, expected: Expect, start: int, end: int, words: Mapping[str, Sequence[Word]]
) -> Bill:
    """The whole bill of [start, end). The forecast is the stack file's; `words` are an operator's."""
    sums, hours = Sums(), Decimal(end - start) / HOUR
    always = Decimal()
    for cost in group_costs(stack):
        group = _metered(stack, site, expected, cost, start, end)
        events = [one for one in site.events if one.group == cost.name and one.at < end]
        _bill(sums, group, stack.region)
        _compare(sums, group, stack.region, events, words.get(cost.name, ()))
        always += group.nodes * hours * group.hourly + _prepaid(sums, group)
    for entry in _fixed(stack, start, end):
        sums.billed(entry)
        sums.planned(0, entry.usd)
        always += entry.usd
    for entry, planned in snapshots.entries(stack, site, start, end):
        sums.billed(entry)
        sums.planned(0, planned)
        sums.differ(Reason(FEWER, 0, entry.usd - planned))
        always += planned
    return sums.bill(always)


def _metered(stack: Stack, site: Site, expected: Expect, cost: GroupCost, start: int, end: int) -> Metered:
    windows = expected.groups[cost.name].windows
    clipped = ((max(low, start), min(high, end)) for low, high in windows)
    return Metered(
        cost,
        rates_of(cost, stack.region, start, end),
        tuple(lives_of(site.groups[cost.name], end)),
        tuple(span for span in clipped if span[0] < span[1]),
        sum(start <= high < end for _, high in windows),
    )


def _bill(sums: Sums, group: Metered, region: str) -> None:
    """Machines by type and market, and the disks and addresses beside them."""
    name, by_kind = group.cost.name, _by_kind(group.lives)
    for (kind, market), seconds in by_kind.items():
        rate = own_rate(kind, market, region)
        sums.billed(Entry(f"{name}: {kind} {market}", seconds / HOUR, "node-hour", rate, seconds, name))
    hours = sum(by_kind.values()) / HOUR
    sums.billed(Entry(f"{name}: root disks", hours, "node-hour", group.rates.disk, 0, name))
    if group.rates.address:
        sums.billed(Entry(f"{name}: public addresses", hours, "address-hour", group.rates.address, 0, name))


def _by_kind(lives: Sequence[Life]) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = defaultdict(int)
    for life in sorted(lives, key=lambda life: (life.type, life.market)):
        found[life.type, life.market] += life.billed_s
    return found


def _compare(sums: Sums, group: Metered, region: str, events: Sequence[Event], words: Sequence[Word]) -> None:
    """What was planned, and each reason why it came otherwise."""
    name = group.cost.name
    sums.planned(group.planned_s, group.planned_s * group.hourly / HOUR)
    why = differences(group.lives, group.windows, group.nodes, events, group.drain_s, group.ends, words)
    for says, cause in sorted(why.items()):
        usd = cause.seconds * group.hourly / HOUR
        sums.differ(Reason(says, cause.seconds, usd, name, unserved(says, cause), cause.each))
    other = sum(
        (
            seconds * (own_rate(kind, market, region) - group.rates.usual) / HOUR
            for (kind, market), seconds in _by_kind(group.lives).items()
        ),
        Decimal(),
    )
    if other:
        sums.differ(Reason(OTHER, 0, other, name))


def _prepaid(sums: Sums, group: Metered) -> Decimal:
    """A capacity block is the same in bill and forecast."""
    if group.rates.prepaid is None:
        return Decimal()
    hours, usd = group.rates.prepaid
    says = f"{group.cost.name}: capacity block, paid up front"
    entry = Entry(says, hours * group.nodes, "node-hour", usd, 0, group.cost.name)
    sums.billed(entry)
    sums.planned(0, entry.usd)
    return entry.usd


def _fixed(stack: Stack, start: int, end: int) -> Iterator[Entry]:
    """Volumes and NAT stand all the time: the month's lines, as much of them as was rehearsed."""
    day = datetime.fromtimestamp(start, UTC)
    bare = [replace(cost, snapshots_kept=0) for cost in volume_costs(stack)]
    month = forecast((), bare, region=stack.region, year=day.year, month=day.month, nat=needs_nat(stack))
    share = Decimal(end - start) / HOUR / month_hours(start)
    for line in month.lines:
        yield Entry(line.what, line.quantity * share, line.unit, line.unit_usd)

"""Hours and money: three bars, the bill's lines, and why it isn't the forecast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from nightshift.rehearsal.report import svg
from nightshift.rehearsal.report.lanes import always_minutes
from nightshift.rehearsal.report.words import adding_up, count, hours, signed_minutes, signed_usd, usd
from nightshift.rehearsal.story import BillLine, Difference, Story

_CENT = 0.005
_FEW = 3
"""Up to this many shifts of a reason are named."""
Titles = Mapping[tuple[str, int], tuple[str, str]]
"""By group and start of a shift: its place on the page, and what it's called."""


@dataclass(frozen=True)
class Bar:
    """A sum as a length beside others."""

    name: str
    usd: str
    hours: str
    picture: Markup


def bars(story: Story) -> tuple[Bar, ...]:
    """This rehearsal, the forecast, and everything up all the time."""
    bill = story.bill
    sums = (
        ("rehearsed", bill.usd, bill.billed_minutes, "mine"),
        ("forecast", bill.forecast_usd, bill.forecast_minutes, "plan"),
        ("up all the time", bill.always_on_usd, always_minutes(story), "always"),
    )
    most = max([amount for _, amount, _, _ in sums] + [_CENT])
    return tuple(
        Bar(name, usd(amount), hours(minutes), _bar(amount, most, look))
        for name, amount, minutes, look in sums
    )


def _bar(amount: float, most: float, look: str) -> Markup:
    width = svg.percent(max(0.0, amount), most)
    box = svg.element("rect", x="0", y=2, width=width, height=14, class_=f"bar {look}")
    return svg.element("svg", box, class_="chart", width="100%", height=18, aria_hidden="true")


@dataclass(frozen=True)
class Reason:
    """A difference as the page tells it. `shifts`: places and titles of those it lay in, few; else `many`."""

    why: str
    group: str
    minutes: str
    usd: str
    shifts: tuple[tuple[str, str], ...] = ()
    many: str = ""
    unserved: bool = False


def reasons(story: Story, titles: Titles | None = None) -> tuple[Reason, ...]:
    """Every difference, the largest first, and what is left unexplained, which should be nothing."""
    bill = story.bill
    ordered = sorted(bill.differences, key=lambda one: (-abs(one.usd), -abs(one.minutes)))
    found = [_reason(one, titles or {}) for one in ordered]
    open_usd = bill.usd - bill.forecast_usd - sum(one.usd for one in bill.differences)
    open_minutes = bill.billed_minutes - bill.forecast_minutes - sum(one.minutes for one in bill.differences)
    if abs(open_usd) >= _CENT or open_minutes:
        found.append(_reason(Difference("not explained", open_minutes, open_usd), {}))
    return tuple(found)


def _reason(one: Difference, titles: Titles) -> Reason:
    named = [titles[key] for start in one.shifts if (key := (one.group or "", start)) in titles]
    few = len(one.shifts) <= _FEW
    return Reason(
        one.why,
        one.group or "",
        signed_minutes(one.minutes),
        signed_usd(one.usd),
        tuple(named) if few else (),
        "" if few else count(len(one.shifts), "shift"),
        one.unserved,
    )


def total(story: Story) -> Reason:
    """Bill less forecast."""
    bill = story.bill
    minutes = bill.billed_minutes - bill.forecast_minutes
    return Reason("bill less forecast", "", signed_minutes(minutes), signed_usd(bill.usd - bill.forecast_usd))


@dataclass(frozen=True)
class Line:
    """A line of the bill as the page tells it."""

    what: str
    quantity: str
    unit: str
    each: str
    usd: str


def lines(story: Story) -> tuple[Line, ...]:
    """The bill's lines; their cents add up to its sum."""
    bill = story.bill
    cents = adding_up([100 * line.usd for line in bill.lines], round(100 * bill.usd))
    return tuple(_line(line, amount / 100) for line, amount in zip(bill.lines, cents, strict=True))


def _line(line: BillLine, amount: float) -> Line:
    return Line(line.what, f"{line.quantity:,.2f}", line.unit, f"{line.unit_usd:,.4g} USD", usd(amount))

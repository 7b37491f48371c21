"""Hours and money: three bars, the bill's lines, and why it isn't the forecast."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from nightshift.rehearsal.report import svg
from nightshift.rehearsal.report.lanes import always_minutes
from nightshift.rehearsal.report.words import hours, signed_minutes, signed_usd, usd
from nightshift.rehearsal.story import Difference, Story

_CENT = 0.005


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
        ("24/7", bill.always_on_usd, always_minutes(story), "always"),
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
    """A difference as the page tells it."""

    why: str
    group: str
    minutes: str
    usd: str


def reasons(story: Story) -> tuple[Reason, ...]:
    """Every difference, and what the story leaves unexplained, which should be nothing."""
    bill = story.bill
    found = [_reason(one) for one in bill.differences]
    open_usd = bill.usd - bill.forecast_usd - sum(one.usd for one in bill.differences)
    open_minutes = bill.billed_minutes - bill.forecast_minutes - sum(one.minutes for one in bill.differences)
    if abs(open_usd) >= _CENT or open_minutes:
        found.append(_reason(Difference("not explained", open_minutes, open_usd)))
    return tuple(found)


def _reason(one: Difference) -> Reason:
    return Reason(one.why, one.group or "", signed_minutes(one.minutes), signed_usd(one.usd))


def total(story: Story) -> Reason:
    """Bill less forecast."""
    bill = story.bill
    minutes = bill.billed_minutes - bill.forecast_minutes
    return Reason("bill less forecast", "", signed_minutes(minutes), signed_usd(bill.usd - bill.forecast_usd))

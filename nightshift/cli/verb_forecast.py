"""Hours and money of a calendar month as the stack file says, against the same nodes running all the time.

Prices come from a dated catalog, not from AWS; --sources shows where each is from. Overrides don't count.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from nightshift.cli.answer import Answer
from nightshift.cli.context import Context
from nightshift.cli.errors import UsageError
from nightshift.cli.text import table, wrap
from nightshift.plan.forecast import Forecast, Line, forecast, month_bounds, saved_percent

if TYPE_CHECKING:
    from nightshift.settings.models import Stack

_MONTH = re.compile(r"(20\d\d)-(0[1-9]|1[0-2])")


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's own options."""
    parser.add_argument("--month", help="such as 2026-12; default: the present one")
    parser.add_argument("--sources", action="store_true", help="where each price is from, what isn't counted")


def run(args: argparse.Namespace, here: Context) -> Answer:
    """Read the stack and count."""
    year, month = parse_month(args.month, here.now())
    stack = here.stack(here.file(args.stack))
    return answer(stack, count(stack, year, month), args.sources)


def parse_month(text: str | None, now: datetime) -> tuple[int, int]:
    """Year and month; raises UsageError."""
    if text is None:
        return default_month(now)
    hit = _MONTH.fullmatch(text.strip())
    if hit is None:
        raise UsageError(f'--month: given {text!r}, expected such as "2026-12"')
    return int(hit[1]), int(hit[2])


def default_month(now: datetime) -> tuple[int, int]:
    """The month that is told when none is asked for: the present one, whole."""
    return now.year, now.month


def count(stack: Stack, year: int, month: int) -> Forecast:
    """The stack's forecast of the month."""
    from nightshift.settings.to_plan import group_costs, needs_nat, volume_costs

    return forecast(
        group_costs(stack),
        volume_costs(stack),
        region=stack.region,
        year=year,
        month=month,
        nat=needs_nat(stack),
    )


def answer(stack: Stack, found: Forecast, sources: bool) -> Answer:
    """The month as lines and data."""
    lines = [*_head(stack, found), "", *_lines(found), "", *_hours(found)]
    if sources:
        lines += ["", *_sources(found)]
    else:
        lines += ["--sources shows where prices are from, what is assumed, what isn't counted"]
    return Answer(tuple(lines), _data(stack, found))


def money(usd: Decimal) -> str:
    """`1,234.50`."""
    return f"{usd:,.2f}"


def _head(stack: Stack, found: Forecast) -> list[str]:
    month = f"{datetime(found.year, found.month, 1):%B %Y}"
    lines = wrap(f"{stack.name}: {month}: {headline(found)}", 2)
    lines += _prices(found)
    lines += [piece for says in _range(found) for piece in wrap(says, 2, "  ")]
    saved = saved_percent(found.usd, found.always_on_usd)
    lines += wrap(f"up all the time: {money(found.always_on_usd)} USD; the shifts save {saved} %", 2, "  ")
    lines += wrap(f"kept after destroy: {money(found.kept_usd)} USD a month, volumes and snapshots", 2, "  ")
    return lines + _budget(stack, found)


def headline(found: Forecast) -> str:
    """The sum to plan with, and between which others it lies."""
    if found.low_usd == found.high_usd:
        return f"{money(found.usd)} USD"
    return f"plan with {money(found.usd)} USD (low {money(found.low_usd)}, high {money(found.high_usd)})"


def _range(found: Forecast) -> list[str]:
    if found.low_usd == found.high_usd:
        return []
    low = "nothing cheaper is known" if found.low_usd == found.usd else "the cheapest types and spot prices"
    return [f"low: {low}; high: the dearest types, spot as on-demand"]


def _prices(found: Forecast) -> list[str]:
    """How old they are, and whether they are the region's own."""
    dates = sorted(line.price_date for line in found.lines)
    assumed = [line.assumed_from for line in found.lines if line.assumed_from]
    if not dates:
        return []
    says = f"prices of {dates[0][:7]} to {dates[-1][:7]}"
    if assumed:
        listed = ", ".join(sorted(set(assumed)))
        says += f"; {len(assumed)} of {len(dates)} lines are assumed, from {listed}"
    return wrap(says, 2, "  ")


def _budget(stack: Stack, found: Forecast) -> list[str]:
    if stack.site.budget is None:
        return []
    most = stack.site.budget.monthly_usd
    lines = wrap(f"budget: {most:,} USD a month; this is {found.usd * 100 / most:.0f} % of it", 2, "  ")
    if found.high_usd > most:
        which = "the sum to plan with" if found.usd > most else "the high end"
        over = found.usd if found.usd > most else found.high_usd
        lines += wrap(f"warning  {which}, {money(over)} USD, passes the budget", 9)
    return lines


def _lines(found: Forecast) -> list[str]:
    rows = [[line.what, _quantity(line.quantity), line.unit, money(line.usd)] for line in found.lines]
    rows.append(["total", "", "", money(found.usd)])
    return _fitting(rows)


def _fitting(rows: Sequence[Sequence[str]]) -> list[str]:
    """The table, with what is too wide for it shortened in the first column's place."""
    others = [max(len(row[at]) for row in rows) for at in (1, 2, 3)]
    room = 80 - sum(max(width, 8) for width in others) - 6
    short = [[_short(row[0], room), *row[1:]] for row in rows]
    return table(["WHAT", "QUANTITY", "UNIT", "USD"], short, right=(1, 3))


def _short(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _quantity(value: Decimal) -> str:
    return f"{value:,.1f}"


def _hours(found: Forecast) -> list[str]:
    start, end = month_bounds(found.year, found.month)
    whole = int((end - start).total_seconds() // 3600)
    lines = []
    for one in found.group_hours:
        lines += wrap(
            f"{one.name}: {one.up + one.drain:,.1f} node-hours, of them {one.boot:,.1f} booting and "
            f"{one.drain:,.1f} draining",
            2,
        )
    return [*lines, f"the month has {whole} hours; AWS bills it in UTC"]


def _sources(found: Forecast) -> list[str]:
    lines = ["SOURCES"]
    for line in found.lines:
        lines += wrap(f"{line.what}: {line.unit_usd.normalize():f} USD per {line.unit}: {line.source}", 2)
    lines += ["", "ASSUMED"]
    lines += [piece for says in found.assumptions for piece in wrap(says, 2)]
    lines += ["", "NOT COUNTED"]
    return lines + [piece for says in found.not_counted for piece in wrap(says, 2)]


def _data(stack: Stack, found: Forecast) -> dict[str, object]:
    return {
        "stack": stack.name,
        "month": f"{found.year}-{found.month:02}",
        "currency": "USD",
        "usd": float(found.usd),
        "low_usd": float(found.low_usd),
        "high_usd": float(found.high_usd),
        "always_on_usd": float(found.always_on_usd),
        "kept_usd": float(found.kept_usd),
        "budget_usd": stack.site.budget.monthly_usd if stack.site.budget else None,
        "node_hours": _hundredths(found.hours),
        "groups": [
            {
                "name": one.name,
                "up": _hundredths(one.up),
                "boot": _hundredths(one.boot),
                "drain": _hundredths(one.drain),
            }
            for one in found.group_hours
        ],
        "lines": [_line_data(line) for line in found.lines],
        "assumptions": list(found.assumptions),
        "not_counted": list(found.not_counted),
    }


def _line_data(line: Line) -> dict[str, object]:
    return {
        "what": line.what,
        "quantity": _hundredths(line.quantity),
        "unit": line.unit,
        "unit_usd": float(line.unit_usd),
        "usd": float(line.usd),
        "low_usd": float(line.low_usd),
        "high_usd": float(line.high_usd),
        "source": line.source,
    }


def _hundredths(value: Decimal) -> float:
    return round(float(value), 2)

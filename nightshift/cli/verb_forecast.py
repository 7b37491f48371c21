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
from nightshift.plan.forecast import Forecast, Line, forecast, month_bounds

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
        return now.year, now.month
    hit = _MONTH.fullmatch(text.strip())
    if hit is None:
        raise UsageError(f'--month: given {text!r}, expected such as "2026-12"')
    return int(hit[1]), int(hit[2])


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
    spread = (
        f" (between {money(found.low_usd)} and {money(found.high_usd)})"
        if found.low_usd != found.high_usd
        else ""
    )
    lines = wrap(f"{stack.name}: {month} costs {money(found.usd)} USD{spread}", 2)
    saved = saved_percent(found)
    lines += wrap(f"up all the time: {money(found.always_on_usd)} USD; the shifts save {saved} %", 2, "  ")
    if stack.site.budget:
        share = found.usd * 100 / stack.site.budget.monthly_usd
        lines += wrap(
            f"budget: {stack.site.budget.monthly_usd:,} USD a month; this is {share:.0f} % of it", 2, "  "
        )
    return lines


def saved_percent(found: Forecast) -> int:
    """How much less than always on, in whole percent."""
    if not found.always_on_usd:
        return 0
    return int((1 - found.usd / found.always_on_usd) * 100)


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

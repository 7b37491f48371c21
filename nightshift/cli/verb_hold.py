"""Keep groups down until a time: their up actions wait for the first shift start after it.

Nodes that run drain now. `resume` ends the hold early.
"""

from __future__ import annotations

import argparse

from nightshift.cli import overriding
from nightshift.cli.answer import Answer
from nightshift.cli.context import Context
from nightshift.cli.when import parse_until
from nightshift.plan.override import plan_hold


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's own options."""
    overriding.options(parser)
    parser.add_argument("--until", required=True, help='such as "mon 09:00" or "2026-12-07 09:00"')


def run(args: argparse.Namespace, here: Context) -> Answer:
    """Hold each group until the time as its own zone reads it."""
    return overriding.carry_out(
        args,
        here,
        lambda calendar, now: plan_hold(calendar, now, parse_until(args.until, now, calendar.zone)),
    )

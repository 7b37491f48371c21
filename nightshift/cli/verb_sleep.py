"""Take groups down now, until the next shift start or a given time. Nodes that run drain."""

from __future__ import annotations

import argparse

from nightshift.cli import overriding
from nightshift.cli.answer import Answer
from nightshift.cli.context import Context
from nightshift.cli.when import parse_until
from nightshift.plan.override import plan_sleep


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's own options."""
    overriding.options(parser)
    parser.add_argument("--until", help='such as "mon 09:00"; default: the next shift start')


def run(args: argparse.Namespace, here: Context) -> Answer:
    """Put each group to sleep."""
    return overriding.carry_out(
        args,
        here,
        lambda calendar, now: plan_sleep(
            calendar, now, parse_until(args.until, now, calendar.zone) if args.until else None
        ),
    )

"""End an override: the shifts speak again, and the group takes the size that they say now."""

from __future__ import annotations

import argparse

from nightshift.cli import overriding
from nightshift.cli.answer import Answer
from nightshift.cli.context import Context
from nightshift.plan.override import plan_resume


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's own options."""
    overriding.options(parser)


def run(args: argparse.Namespace, here: Context) -> Answer:
    """Give each group back to its shifts."""
    return overriding.carry_out(args, here, plan_resume)

"""Bring a group up now. It goes down at the given time, or at the end of the shift that contains it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from nightshift.cli import overriding
from nightshift.cli.answer import Answer
from nightshift.cli.context import Context
from nightshift.cli.when import parse_span, parse_until
from nightshift.plan.calendar import Calendar
from nightshift.plan.conflicts import first_meeting
from nightshift.plan.instants import local_text, zone_of
from nightshift.plan.override import VerbPlan, plan_wake

if TYPE_CHECKING:
    from nightshift.settings.models import Stack


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's own options."""
    overriding.options(parser, many=False)
    end = parser.add_mutually_exclusive_group(required=True)
    end.add_argument("--for", dest="span", help='how long, such as "3h"')
    end.add_argument("--until", help='such as "18:00" or "2026-12-07 09:00"')


def run(args: argparse.Namespace, here: Context) -> Answer:
    """Wake the group; warns where another group would want one of its volumes meanwhile."""
    return overriding.carry_out(
        args,
        here,
        lambda calendar, now: plan_wake(calendar, now, _until(args, calendar, now)),
        lambda stack, calendars, now: meetings(
            stack, calendars, args.groups[0], now, _until(args, calendars[args.groups[0]], now)
        ),
    )


def _until(args: argparse.Namespace, calendar: Calendar, now: datetime) -> datetime:
    if args.span is not None:
        return now + parse_span(args.span)
    return parse_until(args.until, now, calendar.zone)


def meetings(
    stack: Stack, calendars: Mapping[str, Calendar], woken: str, now: datetime, until: datetime
) -> Sequence[str]:
    """Groups that are up during the wake and share a volume: whoever comes second waits for it."""
    wake: VerbPlan = plan_wake(calendars[woken], now, until)
    mine = Calendar(calendars[woken].shifts, calendars[woken].zone, calendars[woken].nodes, wake.override)
    ends = mine.next_event(now)
    up = mine.intervals(now, ends.at if ends else until)
    said = []
    for name, other in calendars.items():
        shared = sorted(set(stack.groups[woken].volumes) & set(stack.groups[name].volumes))
        meeting = first_meeting(up, other.intervals(now, ends.at if ends else until)) if shared else None
        if name != woken and meeting:
            when = local_text(meeting, zone_of(other.zone))
            said.append(
                f"{name} is up too from {when} and shares {', '.join(shared)}: a volume has one writer, "
                "whoever comes second waits for it while it costs"
            )
    return said

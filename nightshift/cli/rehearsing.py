"""What `rehearse` is asked for: how many weeks from when, which faults, which seed."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from nightshift.cli.errors import UsageError
from nightshift.plan.instants import first_instant, zone_of

if TYPE_CHECKING:
    from nightshift.rehearsal.faults.parse import Named
    from nightshift.rehearsal.weeks import Plan
    from nightshift.settings.models import Stack

WEEK_S = 604_800
SHORTEST_WEEKS, LONGEST_WEEKS = 0.006, 53.0
"""From an hour to a year of whole weeks."""
FIRST_YEAR, LAST_YEAR = 2000, 2099
"""Of `--from`. AWS has sold machines since 2006; which zone rules a later century has, nobody knows."""
LARGEST_SEED = 999_999_999
MOST_FAULTS = 200
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WEEKS = f"such as 4 or 0.5, from {SHORTEST_WEEKS:g} (an hour) to {LONGEST_WEEKS:g}, 6 decimals at most"
_AHEAD_S = 14 * 86_400


def options(parser: argparse.ArgumentParser) -> None:
    """What to play."""
    parser.add_argument("--weeks", default="1", help="how long, such as 4 or 0.5; default: 1")
    parser.add_argument("--from", dest="begin", help="such as 2026-12-07; default: soon, when no group is up")
    parser.add_argument("--faults", default="", help="names such as spot@wed+3h,ice@mon, or how many")
    parser.add_argument("--seed", default="1", help="everything by chance follows from it; default: 1")


@dataclass(frozen=True)
class Asked:
    """The faults by name, and how many more the seed chooses."""

    weeks: float
    seed: int
    begin: datetime | None
    names: tuple[Named, ...]
    extra: int


def read(args: argparse.Namespace, zone: str) -> Asked:
    """The options as values; raises UsageError with every problem."""
    problems: list[str] = []
    weeks = _number("--weeks", args.weeks, r"[0-9]{1,3}(\.[0-9]{1,6})?", _WEEKS, problems)
    if weeks is not None and not SHORTEST_WEEKS <= weeks <= LONGEST_WEEKS:
        problems.append(f'--weeks: given "{args.weeks}", expected {_WEEKS}')
    seed = _number("--seed", args.seed, "[0-9]{1,9}", f"a whole number, 0 to {LARGEST_SEED}", problems)
    begin = _begin(args.begin, zone, problems) if args.begin else None
    names, extra = _faults(args.faults.strip(), problems)
    if problems:
        raise UsageError(*problems)
    return Asked(weeks or 1.0, int(seed or 0), begin, names, extra)


def _number(what: str, text: str, form: str, expected: str, problems: list[str]) -> float | None:
    if re.fullmatch(form, text):
        return float(text)
    problems.append(f'{what}: given "{text}", expected {expected}')
    return None


def _begin(text: str, zone: str, problems: list[str]) -> datetime | None:
    try:
        if not FIRST_YEAR <= datetime.fromisoformat(text).year <= LAST_YEAR:
            problems.append(f'--from: given "{text}", expected a year from {FIRST_YEAR} to {LAST_YEAR}')
            return None
        if _DAY.fullmatch(text):
            return first_instant(datetime.fromisoformat(text), zone_of(zone))[0]
        return datetime.strptime(text, "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC)
    except ValueError:
        problems.append(f'--from: given "{text}", expected such as "2026-12-07" or "2026-12-07T01:00Z"')
        return None


def _faults(text: str, problems: list[str]) -> tuple[tuple[Named, ...], int]:
    from nightshift.rehearsal.faults.parse import FaultProblems, parse

    if re.fullmatch(r"[0-9]+", text):
        if len(text) < 9 and int(text) <= MOST_FAULTS:
            return (), int(text)
        problems.append(f"--faults: given {text}, {MOST_FAULTS} at most")
        return (), 0
    try:
        return parse([name for name in text.split(",") if name.strip()]), 0
    except FaultProblems as error:
        problems += error.problems
        return (), 0


def plan_of(asked: Asked, stack: Stack, now: datetime) -> Plan:
    """From `--from`, else from the first minute at which no group is up; from now if there is none soon."""
    from nightshift.rehearsal.weeks import Plan

    begin = int((asked.begin or now).timestamp())
    start = begin if asked.begin else quiet(stack, begin - begin % 60)
    return Plan(start, start + round(asked.weeks * WEEK_S), asked.seed, asked.names, asked.extra)


def quiet(stack: Stack, now: int) -> int:
    """The first instant from `now` on at which every group is down."""
    from nightshift.rehearsal.expect import windows

    spans = sorted(span for name in stack.groups for span in windows(stack, name, now, now + _AHEAD_S))
    at = now
    for first, last in spans:
        if first <= at < last:
            at = last
    return at if at < now + _AHEAD_S else now

"""The week that `make try` plays: the coming one, a fault in its second shift, and where its report lies."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from nightshift.cli import rehearsed, rehearsing
from nightshift.cli.errors import CliError
from nightshift.cli.text import wrap
from nightshift.plan.instants import WEEKDAYS
from nightshift.rehearsal.expect import windows
from nightshift.rehearsal.faults.parse import parse
from nightshift.rehearsal.fleets import real_group
from nightshift.settings.to_plan import capacity_plan, zone_of

if TYPE_CHECKING:
    from nightshift.rehearsal.story import Story
    from nightshift.rehearsal.weeks import Plan
    from nightshift.settings.models import Stack

REPORT = "rehearsal.html"
SEED = 1
_AFTER_S = 3 * 3_600


def plan_of(stack: Stack, now: datetime) -> Plan:
    """A week from the first quiet minute on."""
    quiet = rehearsing.plan_of(rehearsing.Asked(1.0, SEED, None, (), 0), stack, now)
    names = fault_in(stack, quiet.start, quiet.end)
    return rehearsing.plan_of(rehearsing.Asked(1.0, SEED, None, parse(names), 0), stack, now)


def fault_in(stack: Stack, start: int, end: int) -> list[str]:
    """AWS takes the node back, or its machine dies, three hours into the second shift of [start, end), the
    first where there's one; nothing where there's none."""
    name = real_group(stack.groups, None) or next(iter(stack.groups))
    shifts = [span for span in windows(stack, name, start, end) if start <= span[0] and span[1] <= end]
    if not shifts:
        return []
    plan = capacity_plan(stack.region, stack.groups[name])
    kind = "crash" if plan.reservation or plan.on_demand_percent == 100 else "spot"
    first, last = shifts[min(1, len(shifts) - 1)]
    zone = ZoneInfo(zone_of(stack.site, stack.groups[name]))
    day = WEEKDAYS[datetime.fromtimestamp(first, UTC).astimezone(zone).weekday()]
    return [f"{kind}@{day}+3h" if last - first > _AFTER_S else f"{kind}@{day}+0h"]


def play(stack: Stack, plan: Plan, endpoint: str, say: Callable[[str], None], real: str | None) -> Story:
    """Raises CliError."""
    say(f"a week with {', '.join(fault.name for fault in plan.faults) or 'no fault'} ...")
    return rehearsed.play_deployed(stack, plan, endpoint, say, real)


def keep(story: Story, root: Path, say: Callable[[str], None]) -> Path | None:
    """Write the report into the project's folder. None: it couldn't be written, and `say` was told why."""
    path = root / REPORT
    try:
        rehearsed.write_report(story, path)
    except CliError as error:
        say(f"problem: {error}; make room, then run it again")
        return None
    return path


def told(story: Story) -> list[str]:
    """What came of it, at 80 columns."""
    from nightshift.rehearsal.report.terminal import summary

    return [*summary(story), "", *wrap(story.compressed)]

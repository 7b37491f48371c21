"""hold, wake, sleep and resume: read, decide, show, ask, then carry the steps out."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from nightshift.cli.answer import Answer
from nightshift.cli.carrying import do, settle
from nightshift.cli.context import Context
from nightshift.cli.errors import FINE, PROBLEM, NotDeployed, UsageError
from nightshift.cli.live import LiveGroup, read_groups
from nightshift.cli.site import calendar, known_groups
from nightshift.cli.steps import Steps, data, decide, describe
from nightshift.cli.text import wrap
from nightshift.plan import names
from nightshift.plan.calendar import Calendar
from nightshift.plan.override import VerbPlan
from nightshift.records.errors import Unreadable
from nightshift.records.store import Records, Seen

if TYPE_CHECKING:
    from nightshift.cli.aws import Aws
    from nightshift.settings.models import Stack

Planner = Callable[[Calendar, datetime], VerbPlan]
Warner = Callable[["Stack", Mapping[str, Calendar], datetime], Sequence[str]]


@dataclass(frozen=True)
class Found:
    """What stands: the groups in AWS, the overrides with their ETags, who asks."""

    live: Mapping[str, LiveGroup]
    seen: Mapping[str, Seen]
    by: str


def options(parser: argparse.ArgumentParser, many: bool = True) -> None:
    """What the four verbs share."""
    parser.add_argument("groups", nargs="+" if many else 1, metavar="GROUP", help="group of the stack file")
    parser.add_argument("--dry-run", action="store_true", help="show the steps, do none")
    parser.add_argument("-y", "--yes", action="store_true", help="don't ask before nodes drain")


def carry_out(
    args: argparse.Namespace, here: Context, planner: Planner, warner: Warner | None = None
) -> Answer:
    """The verb from its words to what was done."""
    file = here.file(args.stack)
    stack, now = here.stack(file), here.now()
    groups = known_groups(stack, args.groups)
    for group in groups:
        planner(calendar(stack, group), now)
    aws = here.connect(file, stack)
    records = aws.records(stack.name)
    found = look(aws, records, stack, groups)
    missing = [group for group in groups if group not in found.live]
    if missing:
        raise NotDeployed(stack.name, f"group {', '.join(missing)}")
    plans = {group: _steps(stack, group, found, planner, now) for group in groups}
    warnings = warner(stack, _calendars(stack, found), now) if warner else ()
    lines = _lines(stack, plans, warnings)
    answer = {"stack": stack.name, "done": not args.dry_run, "warnings": list(warnings)}
    answer["changed_meanwhile"] = []
    answer["groups"] = [data(steps) for steps in plans.values()]
    if args.dry_run:
        return Answer((*lines, "dry run: nothing was changed"), answer)
    if not _agreed(args, here, plans, lines, warnings):
        return Answer(("nothing was changed",), {**answer, "done": False}, PROBLEM)
    changed = []
    for steps in plans.values():
        left_there = do(aws.client("autoscaling"), records, steps)
        changed += settle(aws.client("autoscaling"), records, steps, left_there, here.now())
    answer = {**answer, "done": not changed, "changed_meanwhile": changed}
    if changed:
        told = [line for each in changed for line in wrap(f"problem  {each}", 9)]
        return Answer((*lines, *told), answer, PROBLEM)
    return Answer((*lines, "done"), answer, FINE)


def look(aws: Aws, records: Records, stack: Stack, groups: Sequence[str]) -> Found:
    """The groups asked for, every group's override, and the caller's ARN."""
    asgs = {group: names.group_name(stack.name, group) for group in groups}
    live = read_groups(aws.client("autoscaling"), asgs)
    seen = {group: _seen(records, group) for group in stack.groups}
    return Found(live, seen, str(aws.identity()["Arn"]))


def _seen(records: Records, group: str) -> Seen:
    """A damaged override counts as none and is overwritten."""
    try:
        return records.override(group)
    except Unreadable:
        return Seen(None, records.override_etag(group))


def _calendars(stack: Stack, found: Found) -> dict[str, Calendar]:
    return {group: calendar(stack, group, found.seen[group].record) for group in stack.groups}


def _steps(stack: Stack, group: str, found: Found, planner: Planner, now: datetime) -> Steps:
    seen = found.seen[group]
    one = calendar(stack, group, seen.record)
    return decide(one, found.live[group], planner(one, now), seen, now, found.by)


def _lines(stack: Stack, plans: Mapping[str, Steps], warnings: Sequence[str]) -> tuple[str, ...]:
    lines: list[str] = []
    for group, steps in plans.items():
        zone = stack.groups[group].timezone or stack.site.timezone
        for sentence in describe(steps, zone):
            lines += wrap(sentence, 2)
        lines += [line for warning in steps.warnings for line in wrap(f"warn  {group}: {warning}", 6)]
    return (*lines, *(line for warning in warnings for line in wrap(f"warn  {warning}", 6)))


def _agreed(
    args: argparse.Namespace,
    here: Context,
    plans: Mapping[str, Steps],
    lines: Sequence[str],
    warnings: Sequence[str],
) -> bool:
    """Whether to go on: asked only when nodes drain or something is to be warned about."""
    drains = [node for steps in plans.values() for node in steps.drains]
    if args.yes or not (drains or warnings):
        return True
    for line in lines:
        here.say(line)
    try:
        return here.ask("Go on?")
    except EOFError as error:
        raise UsageError("no answer: say --yes") from error

"""Deploy the stack to an emulated AWS with the real engine, then play its coming weeks there, with faults.

Nothing real is made or billed, and no AWS account is needed. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from nightshift.cli import rehearsed, rehearsing
from nightshift.cli.answer import Answer
from nightshift.cli.context import Context
from nightshift.cli.errors import FINE, PROBLEM, CliError, UsageError
from nightshift.cli.text import table, wrap
from nightshift.cli.writing import place

if TYPE_CHECKING:
    from nightshift.cli.project import StackFile
    from nightshift.rehearsal.deploy import AtLast, DeployReport
    from nightshift.rehearsal.story import Story
    from nightshift.rehearsal.weeks import Plan
    from nightshift.settings.models import Stack

PARTS = ("deploy", "control")


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's own options."""
    parser.add_argument("--only", help="deploy: the deployment; control: the weeks, with modelled nodes")
    parser.add_argument("--stay", action="store_true", help="with --only deploy: keep it up until Ctrl-C")
    rehearsing.options(parser)
    parser.add_argument("--world", help="with --only control: a file that the deployed site is kept in")
    parser.add_argument(
        "--real", help="the group whose nodes run as real processes, or none; default: the first with a job"
    )
    parser.add_argument("--report", help="write the report, one HTML file, here")


def run(args: argparse.Namespace, here: Context) -> Answer:
    """Rehearse the stack file's deployment, its weeks, or both."""
    _sensible(args)
    file = here.file(args.stack)
    stack = here.stack(file)
    _known(stack, args.real)
    if args.only == "deploy":
        return answer(rehearse(here, file, stack, at_last=_staying(here, stack) if args.stay else None))
    asked = rehearsing.read(args, stack.site.timezone)
    plan = rehearsing.plan_of(asked, stack, here.now())
    path = None if args.report is None else place("--report", here.cwd / args.report)
    if args.only == "control":
        found = rehearsed.control(here, file, stack, plan, args.world)
    else:
        found = _both(here, file, stack, plan, args.real)
    return rehearsed.answer(found if path is None else rehearsed.with_report(found, path))


def _known(stack: Stack, real: str | None) -> None:
    from nightshift.rehearsal.fleets import UnknownGroup, real_group

    try:
        real_group(stack.groups, real)
    except UnknownGroup as error:
        raise UsageError(f"--real: {error}") from error


def _sensible(args: argparse.Namespace) -> None:
    problems = []
    if args.only not in (None, *PARTS):
        problems.append(
            f"--only: given {args.only}, allowed are {' and '.join(PARTS)}; leave it out for both"
        )
    if args.stay and args.only != "deploy":
        problems.append("--stay: only with --only deploy")
    if args.world and args.only != "control":
        problems.append("--world: only with --only control; the whole rehearsal deploys anew")
    if args.real and args.only:
        problems.append("--real: not with --only; the whole rehearsal has real nodes where this machine can")
    if problems:
        raise UsageError(*problems)


def _both(here: Context, file: StackFile, stack: Stack, plan: Plan, real: str | None) -> rehearsed.Rehearsed:
    """The weeks are played while everything stands."""
    stories: list[Story] = []

    def weeks(endpoint: str) -> None:
        stories.append(rehearsed.play_deployed(stack, plan, endpoint, here.say, real))

    deploy = rehearse(here, file, stack, weeks)
    if not stories:
        raise CliError(*(line for one in deploy.problems for line in one.splitlines()))
    return rehearsed.Rehearsed(rehearsed.whole(deploy, stories[0]), deploy)


def _staying(here: Context, stack: Stack) -> AtLast:
    from nightshift.rehearsal import stay

    front = stay.apart()
    return lambda endpoint, _: stay.wait(front, endpoint, stack.region, stack.name, here.say)


def rehearse(
    here: Context,
    file: StackFile,
    stack: Stack,
    while_up: Callable[[str], None] | None = None,
    at_last: AtLast | None = None,
) -> DeployReport:
    """The deploy rehearsal; raises CliError where it can't even begin."""
    try:
        from nightshift.emulator.cloud.process import CloudError
        from nightshift.emulator.engine.errors import EngineError
        from nightshift.rehearsal.deploy import rehearse_deploy
    except ModuleNotFoundError as error:
        raise CliError(f"{error.name} isn't installed: pip install 'nightshift[rehearsal,infra]'") from error
    try:
        return rehearse_deploy(stack, file.path, file.root, here.say, while_up, at_last)
    except (EngineError, CloudError) as error:
        raise CliError(*str(error).splitlines()) from error


def answer(report: DeployReport) -> Answer:
    """The report as lines and data; status 1 on any problem."""
    lines = [
        f"rehearsed the deployment of {report.stack}",
        *_provider(report),
        *_steps(report),
        *_tour(report),
    ]
    lines += _left(report)
    problems = report.problems
    for problem in problems:
        first, *more = problem.splitlines()
        lines += wrap(f"problem  {first}", 9)
        lines += [piece for line in more for piece in wrap(line, 11, " " * 9)]
    lines.append({0: "no problems", 1: "1 problem"}.get(len(problems), f"{len(problems)} problems"))
    return Answer(tuple(lines), report.data(), PROBLEM if problems else FINE)


def _provider(report: DeployReport) -> list[str]:
    return wrap(provider_words(report), 4, "  ") if report.provider else []


def provider_words(report: DeployReport) -> str:
    """The version stands with the program that has it."""
    name, behind, bridge = report.provider.partition(" behind ")
    return f"{name} {report.provider_version}{behind}{bridge}"


def _steps(report: DeployReport) -> list[str]:
    counts = {
        "up": f"{report.created} created",
        "second_up": _changed(report.changed_second_up),
        "refresh": _changed(report.changed_refresh),
        "tour": f"{sum(one.ok for one in report.tour)} of {len(report.tour)} checks hold",
        "destroy": f"{sum(one.kept for one in report.left or ())} kept",
    }
    rows = [
        [step.replace("_", " "), f"{taken:.1f}", counts.get(step, "")]
        for step, taken in report.seconds.items()
    ]
    return ["", *table(["STEP", "SECONDS", "RESULT"], rows, right=(1,)), ""]


def _changed(count: int | None) -> str:
    return "" if count is None else f"{count} changed"


def _tour(report: DeployReport) -> list[str]:
    rows = [["ok" if one.ok else "fail", one.what, one.says] for one in report.tour]
    return [*table(["", "LOOKED AT", "FOUND"], rows), ""] if rows else []


def _left(report: DeployReport) -> list[str]:
    kept = [str(one) for one in report.left or () if one.kept]
    return [*wrap(f"kept after destroy: {', '.join(kept)}", 2), ""] if kept else []

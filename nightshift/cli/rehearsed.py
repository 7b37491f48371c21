"""Weeks of the stack, played on what the real engine deployed to an emulated AWS, or on a kept world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nightshift.cli.answer import Answer
from nightshift.cli.errors import FINE, PROBLEM, CliError, UsageError
from nightshift.cli.text import wrap

if TYPE_CHECKING:
    from nightshift.cli.context import Context
    from nightshift.cli.project import StackFile
    from nightshift.rehearsal.deploy import DeployReport
    from nightshift.rehearsal.story import Story
    from nightshift.rehearsal.weeks import Plan
    from nightshift.rehearsal.world.model import World
    from nightshift.settings.models import Stack

Say = Callable[[str], None]


@dataclass(frozen=True)
class Rehearsed:
    """The story, and the deployment around it where there was one."""

    story: Story
    deploy: DeployReport | None = None


def control(here: Context, file: StackFile, stack: Stack, plan: Plan, kept: str | None) -> Rehearsed:
    """The control plane alone, with modelled nodes. `kept`: a file that the world comes from or goes to."""
    from nightshift.emulator.cloud.process import CloudError
    from nightshift.emulator.engine.errors import EngineError
    from nightshift.rehearsal.deployed import deployed_world, keep_world, kept_world
    from nightshift.rehearsal.world.errors import Unplayable

    path = None if kept is None else here.cwd / kept
    try:
        if path is not None and path.exists():
            world = kept_world(path)
        else:
            world = deployed_world(stack, file.path, file.root, here.say)
            if path is not None:
                keep_world(world, path)
    except (EngineError, CloudError) as error:
        raise CliError(*str(error).splitlines()) from error
    except Unplayable as error:
        raise CliError(*error.problems) from error
    except (OSError, ValueError) as error:
        raise UsageError(f"--world: {kept}: {_first_line(error)}") from error
    if world.site != stack.name:
        raise UsageError(f"--world: {kept} is the world of {world.site}, not of {stack.name}")
    return Rehearsed(shrunk(stack, world, plan, play(stack, world, plan, None, here.say)))


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def play(
    stack: Stack, world: World, plan: Plan, endpoint: str | None, say: Say, real: str | None = None
) -> Story:
    """One run; `real`: the group whose nodes are real, as `--real` has it.

    Raises UsageError for faults that have no place in it, CliError when a real node doesn't go on.
    """
    from nightshift.emulator.sandbox.control import Refused
    from nightshift.emulator.sandbox.network import SandboxError
    from nightshift.emulator.sandbox.node import NodeError
    from nightshift.rehearsal.faults.parse import FaultProblems
    from nightshift.rehearsal.fleets import fleet_of
    from nightshift.rehearsal.real.life import Stuck
    from nightshift.rehearsal.report.terminal import Progress
    from nightshift.rehearsal.weeks import rehearse

    progress = Progress(say, stack.site.timezone, plan.start, plan.end)
    try:
        with fleet_of(stack, world, endpoint, plan.seed, say, real) as nodes:
            return nodes.told(rehearse(stack, world, plan, nodes.fleet, progress))
    except FaultProblems as error:
        raise UsageError(*error.problems) from error
    except (Stuck, SandboxError, NodeError, Refused) as error:
        told = (f"real nodes: {line}" for line in str(error).splitlines())
        raise CliError(*told, "the rest of the rehearsal was not played, so there is no report") from error


def play_deployed(stack: Stack, plan: Plan, endpoint: str, say: Say, real: str | None = None) -> Story:
    """One run on what stands in the emulated AWS there. Raises what `play` raises."""
    from nightshift.rehearsal.clients import clients_of
    from nightshift.rehearsal.world.errors import Unplayable
    from nightshift.rehearsal.world.read import read_world

    try:
        world = read_world(clients_of(endpoint, stack.region), stack.name, stack.region)
    except Unplayable as error:
        raise CliError(*error.problems) from error
    return play(stack, world, plan, endpoint, say, real)


def shrunk(stack: Stack, world: World, plan: Plan, story: Story) -> Story:
    """A broken run's replay names the fewest faults that still break it."""
    from nightshift.rehearsal.faults.parse import parse
    from nightshift.rehearsal.replay import command
    from nightshift.rehearsal.weeks import shrink

    if not story.broken or not story.faults:
        return story
    fewest = shrink(stack, world, plan, parse([fault.fault for fault in story.faults]))
    names = [fault.name for fault in fewest]
    replay = command(stack.name, plan.start, plan.end, plan.seed, names)
    return replace(story, broken=tuple(replace(one, replay=replay) for one in story.broken), replay=replay)


def _and_destroyed(looked_at: str) -> str:
    return f"{looked_at}, " * bool(looked_at) + "what the engine's destroy left of the deployment"


def whole(deploy: DeployReport, story: Story) -> Story:
    """The story with the deployment's part: provider, and what the real destroy left."""
    left = [str(one) for one in deploy.left or () if not one.kept]
    told = tuple(
        replace(rule, checked=rule.checked + 1, looked_at=_and_destroyed(rule.looked_at))
        if rule.name == "nothing-left" and deploy.left is not None
        else rule
        for rule in story.invariants
    )
    provider = f"{deploy.provider} {deploy.provider_version}".strip()
    story = replace(story, provider=provider, invariants=told)
    if not left:
        return story
    from nightshift.rehearsal.story import Break

    says = f"left after destroy: {', '.join(left)}"
    last = Break("nothing-left", story.end, says, story.events[-25:], story.replay)
    return replace(story, broken=(*story.broken, last))


def answer(found: Rehearsed, report: Path | None) -> Answer:
    """Lines and data; status 1 when a rule broke, a fault ended badly or the deployment has problems."""
    from nightshift.rehearsal.report.data import data
    from nightshift.rehearsal.report.terminal import summary

    lines, problems = list(summary(found.story)), []
    told: dict[str, object] = dict(data(found.story))
    if found.deploy is not None:
        problems = found.deploy.problems
        told["deploy"] = found.deploy.data()
        lines += [piece for one in problems for piece in wrap(f"problem  {one.splitlines()[0]}", 9)]
    if report is not None:
        lines += ["", *wrap(f"report: {report}", 8)]
        told["report"] = str(report)
    else:
        lines += ["", "no report was written: add --report week.html for one"]
    return Answer(tuple(lines), told, FINE if found.story.ok and not problems else PROBLEM)


def report_place(path: Path) -> Path:
    """Where the report will go: tried before minutes are spent on it. Raises UsageError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        there = path.exists()
        path.touch()
        if not there:
            path.unlink()
    except OSError as error:
        raise UsageError(f"--report: {path}: {error.strerror}") from error
    return path


def write_report(story: Story, path: Path) -> None:
    """The page as one file. Raises UsageError."""
    from nightshift.rehearsal.report.page import render

    try:
        path.write_text(render(story), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--report: {path}: {error.strerror}") from error

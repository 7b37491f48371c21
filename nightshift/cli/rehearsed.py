"""Weeks of the stack, played on what the real engine deployed to an emulated AWS, or on a kept world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nightshift.cli.answer import Answer
from nightshift.cli.errors import FINE, PROBLEM, CliError, UsageError
from nightshift.cli.text import wrap
from nightshift.cli.writing import place, write

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
    """The story, the deployment around it where there was one, its report, files that weren't written."""

    story: Story
    deploy: DeployReport | None = None
    report: Path | None = None
    unwritten: tuple[str, ...] = ()


def control(here: Context, file: StackFile, stack: Stack, plan: Plan, kept: str | None) -> Rehearsed:
    """The control plane alone, with modelled nodes. `kept`: a file that the world comes from or goes to."""
    from nightshift.emulator.cloud.process import CloudError
    from nightshift.emulator.engine.errors import EngineError
    from nightshift.rehearsal.deployed import deployed_world
    from nightshift.rehearsal.world.errors import Unplayable

    path = None if kept is None else here.cwd / kept
    world = None if path is None else kept_world(path, stack, file.root)
    unwritten: tuple[str, ...] = ()
    if world is None:
        try:
            world = deployed_world(stack, file.path, file.root, here.say)
        except (EngineError, CloudError) as error:
            raise CliError(*str(error).splitlines()) from error
        except Unplayable as error:
            raise CliError(*error.problems) from error
        unwritten = keep_world(world, path, stack, file.root)
    return Rehearsed(
        shrunk(stack, world, plan, play(stack, world, plan, None, here.say)), unwritten=unwritten
    )


def kept_world(path: Path, stack: Stack, project: Path) -> World | None:
    """The file's world; None where there's no file yet, but a place for it. Raises UsageError."""
    from nightshift.rehearsal.world.kept import Unfit, from_text

    try:
        if not path.exists():
            place("--world", path)
            return None
        return from_text(path.read_text(encoding="utf-8", errors="replace"), stack, project)
    except OSError as error:
        raise UsageError(f"--world: {path}: {error.strerror}") from error
    except Unfit as error:
        first, *more = error.lines
        raise UsageError(f"--world: {path}: {first}", *more) from error


def keep_world(world: World, path: Path | None, stack: Stack, project: Path) -> tuple[str, ...]:
    """Write it for later runs; what was deployed is played even where that fails, and then it is told."""
    from nightshift.rehearsal.world.kept import to_text

    try:
        if path is not None:
            write(path, to_text(world, stack, project))
    except OSError as error:
        return (f"the world could not be kept in {path}: {error.strerror}; the next run deploys anew",)
    return ()


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


def answer(found: Rehearsed) -> Answer:
    """Lines and data; status 1 when a rule broke, a fault ended badly, a file could not be written or the
    deployment has problems."""
    from nightshift.rehearsal.report.data import data
    from nightshift.rehearsal.report.terminal import summary

    lines, problems = list(summary(found.story)), []
    told: dict[str, object] = dict(data(found.story))
    if found.deploy is not None:
        problems = found.deploy.problems
        told["deploy"] = found.deploy.data()
        lines += [piece for one in problems for piece in wrap(f"problem  {one.splitlines()[0]}", 9)]
    lines += [piece for one in found.unwritten for piece in wrap(f"problem  {one}", 9)]
    told |= {"unwritten": list(found.unwritten)} if found.unwritten else {}
    if found.report is not None:
        lines += ["", *wrap(f"report: {found.report}", 8)]
        told["report"] = str(found.report)
    elif not found.unwritten:
        lines += ["", "no report was written: add --report week.html for one"]
    return Answer(
        tuple(lines), told, FINE if found.story.ok and not problems and not found.unwritten else PROBLEM
    )


def write_report(story: Story, path: Path) -> None:
    """The page as one file. Raises CliError."""
    from nightshift.rehearsal.report.page import render

    try:
        write(path, render(story))
    except OSError as error:
        raise CliError(f"the report could not be written: {path}: {error.strerror}") from error


def with_report(found: Rehearsed, path: Path) -> Rehearsed:
    """Write the page; a rehearsal that was played is told even where that fails."""
    try:
        write_report(found.story, path)
    except CliError as error:
        again = f"make room, or play it again into another folder: {found.story.replay} --report FILE"
        return replace(found, unwritten=(*found.unwritten, f"{error}; {again}"))
    return replace(found, report=path)

"""The deploy rehearsal: up, again, refresh, tour, destroy, on an emulated AWS with the real engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nightshift.emulator.cloud.process import Cloud, start_cloud
from nightshift.emulator.engine.results import Result
from nightshift.emulator.engine.toolchain import Toolchain, ensure_toolchain
from nightshift.emulator.engine.workspace import Workspace
from nightshift.rehearsal.clients import clients_of
from nightshift.rehearsal.ending import as_ctrl_c
from nightshift.rehearsal.finding import TourFinding
from nightshift.rehearsal.left import Left, left_after
from nightshift.rehearsal.nodes import take_down
from nightshift.rehearsal.tour import tour

if TYPE_CHECKING:
    from nightshift.settings.models import Stack

Say = Callable[[str], None]
WhileUp = Callable[[str], None]
"""Called with the emulated AWS's endpoint while everything stands."""
AtLast = Callable[[str, "DeployReport"], None]
"""The same with what was found so far, after the last step that looks for changes."""
_NORMAL = {"up": 60, "second_up": 20, "refresh": 20, "destroy": 60}
"""Seconds that a step normally takes, for the waiting person."""


@dataclass
class DeployReport:
    """What happened. Empty or None where the rehearsal didn't get that far; `failed` says why."""

    stack: str
    provider: str = ""
    provider_version: str = ""
    created: int = 0
    changed_second_up: int | None = None
    changed_refresh: int | None = None
    changes: list[str] = field(default_factory=list)
    tour: list[TourFinding] = field(default_factory=list)
    left: list[Left] | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    failed: str | None = None

    @property
    def problems(self) -> list[str]:
        """Every reason to say no."""
        found = [self.failed] if self.failed else []
        found += self.changes
        found += [f"{one.what}: {one.says}" for one in self.tour if not one.ok]
        return found + [f"left after destroy: {one}" for one in self.left or () if not one.kept]

    def data(self) -> dict[str, object]:
        """JSON-ready, with the keys that `rehearse --json` promises."""
        return {
            "stack": self.stack,
            "provider": self.provider,
            "provider_version": self.provider_version,
            "created": self.created,
            "changed_second_up": self.changed_second_up,
            "changed_refresh": self.changed_refresh,
            "tour": [{"ok": one.ok, "what": one.what, "says": one.says} for one in self.tour],
            "left_after_destroy": None if self.left is None else [str(one) for one in self.left],
            "kept": [str(one) for one in self.left or () if one.kept],
            "seconds": {step: round(taken, 2) for step, taken in self.seconds.items()},
            "problems": self.problems,
        }


class _Failed(Exception):
    """A step of the engine failed; the report says how."""


def rehearse_deploy(
    stack: Stack,
    stack_file: Path,
    project: Path,
    say: Say,
    while_up: WhileUp | None = None,
    at_last: AtLast | None = None,
) -> DeployReport:
    """Run all steps; `at_last` comes after the last of them that looks for changes.

    A failing step ends the rehearsal and is told in the report.

    Raises ToolchainError, WorkspaceError or CloudError when it can't even begin: what, why, what to do.
    """
    report = DeployReport(stack.name)
    began = time.monotonic()
    with _timed(report, "engine", say):
        toolchain = ensure_toolchain(say)
    report.provider, report.provider_version = toolchain.provider_name, toolchain.provider_version
    try:
        _run(report, stack, toolchain, stack_file, project, say, while_up, at_last)
    except _Failed as error:
        report.failed = str(error)
    report.seconds["total"] = time.monotonic() - began
    return report


def _run(
    report: DeployReport,
    stack: Stack,
    toolchain: Toolchain,
    stack_file: Path,
    project: Path,
    say: Say,
    while_up: WhileUp | None,
    at_last: AtLast | None,
) -> None:
    with ExitStack() as opened:
        opened.enter_context(as_ctrl_c())
        with _timed(report, "cloud", say):
            cloud = opened.enter_context(start_cloud())
        clients = clients_of(cloud.endpoint, stack.region)
        workspace = opened.enter_context(Workspace(toolchain, stack_file, project, cloud.endpoint))
        opened.enter_context(_alive(cloud))
        report.created = _up(report, workspace, say)
        with _timed(report, "tour", say):
            report.tour = tour(stack, clients)
        if while_up is not None:
            while_up(cloud.endpoint)
        _again(report, workspace, say)
        if at_last is not None:
            at_last(cloud.endpoint, report)
            take_down(stack, clients)
        _step(report, "destroy", workspace.destroy, say)
        report.left = left_after(stack, clients)


@contextmanager
def _alive(cloud: Cloud) -> Generator[None]:
    """A step that failed because the emulated AWS is gone says that, and not what the engine saw of it."""
    try:
        yield
    except _Failed as error:
        code = cloud.process.poll()
        if code is None:
            raise
        step = str(error).partition("\n")[0].rstrip(":")
        raise _Failed(f"{step}: the emulated AWS ended by itself (exit code {code}); run it again") from None


def _up(report: DeployReport, workspace: Workspace, say: Say) -> int:
    result = _step(report, "up", workspace.up, say)
    return result.changes.get("create", 0) + result.changes.get("import", 0)


def _again(report: DeployReport, workspace: Workspace, say: Say) -> None:
    """A second up and a refresh, neither of which may change anything."""
    second = _step(report, "second_up", workspace.up, say)
    report.changed_second_up = second.changed
    report.changes += _changed("second up", second)
    refresh = _step(report, "refresh", workspace.refresh, say)
    report.changed_refresh = refresh.changed
    report.changes += _changed("refresh", refresh)


def _changed(what: str, result: Result) -> list[str]:
    return [
        f"{what}: {step.op} {step.type} {step.name} ({', '.join(step.differing) or 'no property named'})"
        for step in result.changed_steps()
    ]


def _step(report: DeployReport, name: str, run: Callable[[], Result], say: Say) -> Result:
    with _timed(report, name, say):
        result = run()
    if not result.ok:
        raise _Failed(f"{name.replace('_', ' ')} failed:\n{result.diagnostics}")
    return result


@contextmanager
def _timed(report: DeployReport, name: str, say: Say) -> Generator[None]:
    began = time.monotonic()
    normal = f" (normally about {_NORMAL[name]} s)" if name in _NORMAL else ""
    say(f"{name.replace('_', ' ')} ...{normal}")
    yield
    report.seconds[name] = time.monotonic() - began
    say(f"{name.replace('_', ' ')}: {report.seconds[name]:.1f} s")

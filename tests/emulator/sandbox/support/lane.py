"""Boots of one site, one after the other: what befell each, how it ended, and who was told why."""

from __future__ import annotations

import fnmatch
import itertools
import json
import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from bootstrap.artifact import Artifact
from nightshift.emulator.cloud import Cloud
from nightshift.emulator.sandbox.machines.description import Machine
from nightshift.emulator.sandbox.machines.recorded import equip
from nightshift.emulator.sandbox.network import Network
from nightshift.emulator.sandbox.node import Node
from tests.emulator.sandbox.support.site import Site, deploy, stack

KIND, RUNTIME = "g6.xlarge", "torch-2.8-cu128"
MACHINE = Machine(kind=KIND, nodes=1, efa=False, runtime=RUNTIME)
AGENT, CLOUD_INIT = "nightshift.service", "cloud-final.service"
Outcome = Literal["ready", "abandoned", "off", "hook", "silent"]
"""ready: in service; abandoned: the launch was given up; off: the machine turned itself off; hook: nothing
more comes, and AWS ends the launch at the hook's deadline; silent: not even that."""
LOOK_S = 0.4
_GIVEN_UP = re.compile(r"giving the launch up: (.+)|not ready: (.+)")


@dataclass
class Boot:
    """One boot under way: the node, and its site to spoil."""

    node: Node
    site: Site
    killed: int = 0

    def at(self, step: str, act: Callable[[], None], after: str = "*") -> None:
        """Do it once, when the node first takes a step that matches, and one that matches `after` was before
        or is the same."""
        waiting, awake = [act], False

        def heard(taken: str) -> None:
            nonlocal awake
            awake = awake or fnmatch.fnmatchcase(taken, after)
            if waiting and awake and fnmatch.fnmatchcase(taken, step):
                waiting.pop()()

        self.node.faults.heard = heard

    def kill(self, unit: str) -> None:
        """SIGKILL the newest process of a unit: the fetcher of user data, or the agent."""
        group = self.node.group
        assert group is not None, "needs control groups of version 2"
        listed = (group / "system.slice" / unit / "cgroup.procs").read_text().split()
        if listed:
            os.kill(int(listed[-1]), signal.SIGKILL)
            self.killed += 1


@dataclass(frozen=True)
class Scenario:
    """`arrange` spoils what is to fail before the node boots; `outcomes` are the right ends.

    `says`: what the reason must hold. `deadline_s`: the fetcher's patience, as user data carries it.
    `again`: boot the node a second time when it's ready, and drain it then.
    """

    name: str
    kind: str
    outcomes: tuple[Outcome, ...]
    arrange: Callable[[Boot], None] = lambda _boot: None
    says: str = ""
    deadline_s: int = 300
    limit_s: float = 240
    again: bool = False
    machine: Machine | None = MACHINE
    disk_mib: int | None = None


@dataclass
class Row:
    """What became of a scenario. Seconds from power on; `second` of the second boot, `drain` of the end."""

    name: str
    kind: str
    wanted: list[str]
    outcome: str = ""
    right: bool = False
    reason: str = ""
    seconds: float = 0
    starts: int = 0
    calls: int = 0
    second: float | None = None
    drain: float | None = None
    problem: str = ""
    again: str = ""
    """What it was played again for, after that was mended."""

    def data(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


class Lane:
    """A site of its own, on which boots follow each other."""

    _numbers = itertools.count(1)

    def __init__(self, cloud: Cloud, net: Network, artifact: Artifact, folder: Path) -> None:
        name = f"boots{next(self._numbers)}"
        self.cloud, self.net = cloud, net
        self.site = deploy(cloud.endpoint, stack(folder, KIND, RUNTIME, name), artifact)

    def play(self, scenario: Scenario) -> Row:
        """One launch from power on to its end."""
        row = Row(scenario.name, scenario.kind, list(scenario.outcomes))
        (instance,) = self.site.size(1)
        node = self.net.node(instance, type=KIND, start=False, disk_mib=scenario.disk_mib)
        boot = Boot(node, self.site)
        try:
            self._prepare(boot, scenario)
            began = time.monotonic()
            node.boot()
            row.outcome = self._outcome(node, scenario.limit_s)
            row.seconds = round(time.monotonic() - began, 2)
            row.reason = self._reason(node)
            self._judge(row, scenario)
            if scenario.again and row.right:
                self._again(node, row)
        finally:
            row.starts = sum(f"{AGENT}: started" in line for line in node.events)
            row.calls = len(node.faults.steps)
            self._clear(node)
        return row

    def _prepare(self, boot: Boot, scenario: Scenario) -> None:
        node = boot.node
        if scenario.machine is not None:
            equip(node.image, scenario.machine)
        node.image.cloud_init_s = 5
        text = self.site.user_data()
        assert text.count('"deadline_s":300') == 1
        node.imds.user_data = text.replace('"deadline_s":300', f'"deadline_s":{scenario.deadline_s}').encode()
        scenario.arrange(boot)
        node.image.environment["NIGHTSHIFT_POLL_S"] = "0.5"

    def _outcome(self, node: Node, limit_s: float) -> Outcome:
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            if node.ended == "poweroff" and self._went_by_itself(node):
                return "off"
            state = self._state(node)
            if state == "InService":
                return "ready"
            if state is None:
                return "abandoned"
            time.sleep(LOOK_S)
        hooks: Any = self.cloud.control("hooks")["actions"]
        waits = [each for each in hooks if each["instance_id"] == node.id]
        return "hook" if waits and waits[0]["default_result"] == "ABANDON" else "silent"

    def _state(self, node: Node) -> str | None:
        """Its lifecycle state in the group; None when it's no member any more."""
        rows: Any = self.cloud.control("instances", {"ids": [node.id]})["instances"]
        return rows[0]["lifecycle"] if rows else None

    @staticmethod
    def _went_by_itself(node: Node) -> bool:
        return any("asked by a program of the node" in line for line in node.events)

    def _reason(self, node: Node) -> str:
        """What anybody is told: the record, the tag, or the console, in this order."""
        record = json.loads(self.site.records("readiness.json").get(node.id, "{}"))
        if record:
            failed, says = str(record["failed"]), str(record["says"])
            return says if failed in says else f"{failed}: {says}"
        tag = self.site.tags(node.id).get("nightshift:reason")
        said = _GIVEN_UP.findall(node.journal(CLOUD_INIT) + node.journal(AGENT))
        if tag or said:
            return tag or "".join(said[-1])
        lines = (node.journal(AGENT) or node.journal(CLOUD_INIT)).strip().splitlines()
        return f"console: {lines[-1]}" if lines else ""

    def _judge(self, row: Row, scenario: Scenario) -> None:
        if row.outcome not in scenario.outcomes:
            row.problem = f"ended {row.outcome}, wanted {' or '.join(scenario.outcomes)}"
        elif row.outcome in ("abandoned", "hook") and not row.reason:
            row.problem = "given up without a reason"
        elif scenario.says not in row.reason:
            row.problem = f"the reason lacks {scenario.says!r}"
        row.right = not row.problem

    def _again(self, node: Node, row: Row) -> None:
        """A reboot in service: the agent is there again, and drains when the group says so."""
        before = len(node.faults.steps)
        node.kill()
        began = time.monotonic()
        node.boot()
        written = "s3.PutObject:nodes/"
        if not self._until(lambda: any(s.startswith(written) for s in node.faults.steps[before:]), 120):
            row.right, row.problem = False, "no second record after a reboot"
            return
        row.second = round(time.monotonic() - began, 2)
        began = time.monotonic()
        self.site.size(0)
        if not self._until(lambda: self._state(node) is None, 120):
            row.right, row.problem = False, "no drain"
            return
        row.drain = round(time.monotonic() - began, 2)

    @staticmethod
    def _until(true: Callable[[], bool], within_s: float) -> bool:
        end = time.monotonic() + within_s
        while time.monotonic() < end:
            if true():
                return True
            time.sleep(LOOK_S)
        return False

    def _clear(self, node: Node) -> None:
        """The group is empty, its volume free, and the artifacts are as they were."""
        node.faults.clear()
        node.faults.heard = lambda _step: None
        self.net.remove(node)
        self.site.size(0)
        for instance in self.site.instances():
            self.site.end(instance)
        self.site.store()
        node.faults.steps.clear()

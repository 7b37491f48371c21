"""One real node, from its launch to its end: what it did, when, and how to do things to it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bootstrap.start.install import UNIT
from nightshift.emulator.engine.modules import cache_root
from nightshift.emulator.sandbox.node import Node, NodeError
from nightshift.rehearsal.control.fleet import Instance
from nightshift.rehearsal.real.gate import Gate
from nightshift.rehearsal.real.signs import Point, Signs
from nightshift.rehearsal.real.why import over, reason, shown

CLAIMS = "ec2.DescribeVolumes"
"""A node that asks for its volumes begins with this."""
CONCLUDES = "autoscaling.CompleteLifecycleAction"
"""With this it answers a hook."""
_STARTED, _ENDED = f"{UNIT}: started", f"{UNIT}: exit code"
_AGENT = b"-m\0bootstrap\0start"
LOOK_S = 0.05
_LAST = 12
"""Lines of each log that are shown where nothing better is known."""
_LOG_S = 0.5
"""The job's last lines reach its log within this."""
JOB_LOG = "/var/log/nightshift/job.log"


class Stuck(RuntimeError):
    """A real node didn't do what it had to in all the time it was given; the text has its last words."""


@dataclass
class Life:
    """`aws_id` is the instance's in the emulated AWS, of which `node` is the machine.

    `resumed`: the step that its job went on from; None while none trains. `claimed`: it may take volumes.
    `begun`: unix seconds of its last boot; `killed`: its agent, with the job, since then. `last`: the step
    and the saved one when the job was last looked at.
    """

    instance: Instance
    aws_id: str
    node: Node
    gate: Gate
    claimed: bool = False
    resumed: int | None = None
    begun: float = field(default_factory=time.time)
    killed: bool = False
    last: tuple[int, int] = (0, 0)

    @property
    def signs(self) -> Signs:
        """What its job shows."""
        return Signs(self.node, self.instance.manifest)

    @property
    def trains(self) -> bool:
        """Whether a job of it has begun."""
        return self.resumed is not None

    def agent_ended(self) -> bool:
        """Whether the agent has ended for good, or the node is down."""
        if not self.node.up:
            return True
        last = next((line for line in reversed(self.node.events) if UNIT in line), "")
        return _ENDED in last and "activating" not in last

    def kill_agent(self) -> None:
        """SIGKILL to the agent's process. Raises Stuck when there's none."""
        children = Path(f"/proc/{self.node.pid}/task/{self.node.pid}/children").read_text(encoding="ascii")
        for pid in map(int, children.split()):
            if _AGENT in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
                return
        raise Stuck(f"{self.aws_id}: no agent to kill: {self.last_words()}")

    def starts(self) -> int:
        """How often the agent was started."""
        return sum(_STARTED in line for line in self.node.events)

    def said(self) -> str:
        """All that the agent and its job have said."""
        return self.node.journal()

    def last_words(self) -> str:
        """The last lines of what cloud-init and the agent have said."""
        cloud, agent = self.node.journal("cloud-final.service"), self.said()
        return "\n".join(shown(line) for text in (cloud, agent) for line in text.splitlines()[-_LAST:])

    def job_log(self) -> str:
        """What its job has printed; nothing where none was launched."""
        try:
            return self.node.path(JOB_LOG).read_text(encoding="utf-8", errors="replace")
        except (NodeError, OSError):
            return ""

    def keep_log(self) -> Path:
        """All that cloud-init, agent and job said, where it outlives the node: one file for each group.

        Raises OSError.
        """
        manifest = self.instance.manifest
        path = cache_root() / "rehearsal" / f"{manifest.site}.{manifest.group}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{self.node.journal('cloud-final.service')}{self.said()}", encoding="utf-8")
        return path

    def stuck(self, what: str, why: str) -> Stuck:
        """The error to raise: what failed and why, then where the whole log is."""
        try:
            kept = f"its whole log is {self.keep_log()}"
        except OSError as error:
            kept = f"its log can't be kept: {error.strerror}: {self.last_words()}"
        return Stuck(f"{self.aws_id}: {what}: {why}\n{kept}")

    def until(
        self, what: str, true: Callable[[], bool], seconds: float, look: Callable[[], None] = lambda: None
    ) -> None:
        """Wait for it; `look` may raise before. Raises Stuck."""
        end = time.monotonic() + seconds
        while not true():
            look()
            if time.monotonic() > end:
                words = reason(self.job_log()) or self.last_words()
                raise self.stuck(f"{what}: not within {seconds:g} s", f"it said: {words}")
            time.sleep(LOOK_S)

    def until_begun(self, since: float, seconds: float) -> None:
        """Wait until a job launched after `since` (unix s) trains. Raises Stuck, at once when it can't."""
        mark, nodes = len(self.said()), self.instance.manifest.nodes

        def look() -> None:
            if why := over(self.said()[mark:], nodes):
                time.sleep(_LOG_S)
                raise self.stuck("its job never began", reason(self.job_log()) or why)

        self.until("its job begins", lambda: self.signs.resumed(since) is not None, seconds, look)

    def train(self, steps: int, seconds: float) -> int:
        """Let the job make so many steps since it went on. The step that it has come to."""
        begun = self.resumed or 0
        wanted = begun + steps
        self.until(f"its job trains {steps} steps", lambda: self.signs.step(begun) >= wanted, seconds)
        return self.signs.step(begun)

    def curve(self, step: int, since: int, until: int, most: int = 16) -> tuple[tuple[int, int, float], ...]:
        """Losses up to `step`, laid over [since, until): steps are spread evenly over the virtual time."""
        begun = self.resumed or 0
        found = [each for each in self.signs.points(begun) if each.step <= step]
        shown = thinned(found, most)
        whole = max(1, step - begun)
        return tuple(
            (since + round((each.step - begun) / whole * (until - since)), each.step, round(each.loss, 4))
            for each in shown
        )


def thinned(points: list[Point], most: int) -> list[Point]:
    """At most so many of them, the first and the last among them."""
    if len(points) <= most:
        return points
    return [points[number * (len(points) - 1) // (most - 1)] for number in range(most)]

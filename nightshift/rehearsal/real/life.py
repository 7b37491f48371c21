"""One real node, from its launch to its end: what it did, when, and how to do things to it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bootstrap.start.install import UNIT
from nightshift.emulator.sandbox.node import Node
from nightshift.rehearsal.control.fleet import Instance
from nightshift.rehearsal.real.gate import Gate
from nightshift.rehearsal.real.signs import Point, Signs

CLAIMS = "ec2.DescribeVolumes"
"""A node that asks for its volumes begins with this."""
CONCLUDES = "autoscaling.CompleteLifecycleAction"
"""With this it answers a hook."""
_STARTED, _ENDED = f"{UNIT}: started", f"{UNIT}: exit code"
_AGENT = b"-m\0bootstrap\0start"
LOOK_S = 0.05


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

    def last_words(self) -> str:
        """The end of what the agent and cloud-init have said."""
        agent, cloud = self.node.journal(), self.node.journal("cloud-final.service")
        return f"{cloud[-600:]}\n{agent[-1500:]}".strip()

    def until(self, what: str, true: Callable[[], bool], seconds: float) -> None:
        """Wait for it. Raises Stuck."""
        end = time.monotonic() + seconds
        while not true():
            if time.monotonic() > end:
                raise Stuck(f"{self.aws_id}: {what}: not within {seconds:g} s; it said: {self.last_words()}")
            time.sleep(LOOK_S)

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

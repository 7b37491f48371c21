"""Power between nodes and the emulated EC2: an ended instance's node goes down, a node turned off ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from nightshift.emulator.sandbox.control import Refused, control
from nightshift.emulator.sandbox.node import Node, NodeError
from nightshift.emulator.sandbox.rounds import Rounds

LOOK_S = 0.3
ENDED = frozenset({"shutting-down", "terminated"})


@dataclass
class Power:
    """Follows the emulated AWS at `endpoint`. A node gets `grace_s` to shut down, then it's cut off."""

    endpoint: str
    nodes: Callable[[], list[Node]]
    grace_s: float = 20.0
    _asked: dict[str, float] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)
    _rounds: Rounds = field(init=False)

    def __post_init__(self) -> None:
        self._rounds = Rounds(self._look_again, LOOK_S, "power")

    def start(self) -> None:
        """Follow from now on."""
        self._rounds.start()

    def close(self) -> None:
        """No more."""
        self._rounds.close()

    def _look_again(self) -> None:
        with suppress(OSError, Refused, NodeError):
            self.look()

    def look(self) -> None:
        """One look at all instances. Raises OSError when AWS doesn't answer, NodeError from a node."""
        nodes = {each.id: each for each in self.nodes()}
        for row in control(self.endpoint, "instances", {"ids": list(nodes)})["instances"]:
            node = nodes[row["id"]]
            if row["state"] in ENDED:
                self._turn_off(node)
            elif node.ended == "poweroff" and node.id not in self._told:
                control(self.endpoint, "shutdown", {"instance_id": node.id})
                self._told.add(node.id)

    def _turn_off(self, node: Node) -> None:
        if not node.up:
            return
        since = self._asked.setdefault(node.id, time.monotonic())
        if since + self.grace_s < time.monotonic():
            node.kill()
        elif since + LOOK_S > time.monotonic():
            node.shut_down()

"""Power between nodes and the emulated EC2: an ended instance's node goes down, a node turned off ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from nightshift.emulator.sandbox.control import Refused, control
from nightshift.emulator.sandbox.node import Node, NodeError

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
    _end: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Follow from now on."""
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """No more."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()

    def _follow(self) -> None:
        while not self._end.wait(LOOK_S):
            try:
                self.look()
            except (OSError, Refused, NodeError):
                continue

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

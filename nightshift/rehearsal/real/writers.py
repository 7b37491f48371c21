"""Who has which volume mounted, looked at from outside of the nodes: seconds with two writers, measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from nightshift.emulator.sandbox.node import Node, NodeError
from nightshift.emulator.sandbox.rounds import Rounds

LOOK_S = 0.05


def mounted(mountinfo: str) -> set[str]:
    """Devices (MAJOR:MINOR) that are mounted below /data, by the text of a mountinfo."""
    rows = (line.split() for line in mountinfo.splitlines())
    return {row[2] for row in rows if len(row) > 4 and row[4].startswith("/data/")}


@dataclass
class Writers:
    """`seconds`: with a volume mounted in two nodes at once, summed over volumes. `looks` were made."""

    nodes: Callable[[], Iterable[Node]]
    seconds: float = 0.0
    looks: int = 0
    _last: float = 0.0
    _rounds: Rounds = field(init=False)

    def __post_init__(self) -> None:
        self._rounds = Rounds(self._look, LOOK_S, "writers")

    def start(self) -> None:
        """Look from now on."""
        self._last = time.monotonic()
        self._rounds.start()

    def close(self) -> None:
        """No more."""
        self._rounds.close()

    def _look(self) -> None:
        since, self._last = self._last, time.monotonic()
        self.note([_table(node) for node in self.nodes()], self._last - since)

    def note(self, tables: Iterable[str], passed_s: float) -> None:
        """One look at every node's mounts; so much time has passed since the one before."""
        seen: dict[str, int] = {}
        for table in tables:
            for device in mounted(table):
                seen[device] = seen.get(device, 0) + 1
        self.looks += 1
        self.seconds += passed_s * sum(count > 1 for count in seen.values())


def _table(node: Node) -> str:
    try:
        return Path(f"/proc/{node.pid}/mountinfo").read_text(encoding="utf-8")
    except (NodeError, OSError):
        return ""

"""Who has which volume mounted, looked at from outside of the nodes: seconds with two writers, measured."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from nightshift.emulator.sandbox.node import Node, NodeError

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
    _end: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Look from now on."""
        self._thread = threading.Thread(target=self._follow, name="writers", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """No more."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()

    def _follow(self) -> None:
        last = time.monotonic()
        while not self._end.wait(LOOK_S):
            now = time.monotonic()
            self.note([_table(node) for node in self.nodes()], now - last)
            last = now

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

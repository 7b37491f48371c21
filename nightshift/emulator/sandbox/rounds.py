"""Something done again and again by a thread of its own, from a start to a close."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Rounds:
    """`act` every `every_s` seconds. What it raises ends the thread: it knows itself what may go wrong."""

    def __init__(self, act: Callable[[], object], every_s: float, name: str) -> None:
        self._act, self._every_s = act, every_s
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """From now on."""
        self._thread.start()

    def close(self) -> None:
        """No more; one that is under way is waited for."""
        self._closed.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._closed.wait(self._every_s):
            self._act()

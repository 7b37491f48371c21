"""Keeps a lifecycle hook waiting while the node works on: a thread that no stuck work can hold up.

It ends by itself after the time that the work may take, so that a node that hangs is given up by the hook.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from bootstrap.aws import AwsError

EVERY_S = 30.0
"""The drain's hook waits 120 s for the next one (infra/node_group.py): three may be lost."""


class Heartbeats:
    """Beats for one hook at most every `every_s`; `beat` is False when nobody waits (any more)."""

    def __init__(
        self,
        beat: Callable[[str], bool],
        hook: str,
        limit_s: float,
        say: Callable[[str], None],
        every_s: float = EVERY_S,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._beat, self._hook, self._say = beat, hook, say
        self._every_s, self._limit_s, self._now = every_s, limit_s, now
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.sent = 0

    def __enter__(self) -> Heartbeats:
        self._thread = threading.Thread(target=self._run, name=f"heartbeats-{self._hook}", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """A call under way is not waited for: its answer changes nothing."""
        self._stopped.set()

    def _run(self) -> None:
        until = self._now() + self._limit_s
        while not self._stopped.wait(self._every_s):
            if self._now() >= until:
                self._say(f"hook {self._hook}: no more heartbeats after {self._limit_s:g} s")
                return
            if not self._sent():
                return

    def _sent(self) -> bool:
        """Whether to go on. What AWS refuses is said, and tried again at the next turn."""
        try:
            waited = self._beat(self._hook)
        except AwsError as error:
            self._say(f"hook {self._hook}: no heartbeat: {error}")
            return True
        self.sent += waited
        return waited

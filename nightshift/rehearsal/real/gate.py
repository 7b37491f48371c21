"""One node's calls of AWS as they come: waited for, held back, and when each was made."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

LONGEST_HOLD_S = 600.0
"""What nobody lets through goes on after this; the node's own client asks again long before."""


class Gate:
    """`heard` takes each step before it's done, in a thread of its own, and returns when it may go on."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._made: list[tuple[str, float]] = []
        self._shut: set[str] = set()
        self._closed = False

    def heard(self, step: str) -> None:
        """A call comes. One whose step is shut waits."""
        with self._changed:
            self._made.append((step, time.monotonic()))
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._closed or step not in self._shut, LONGEST_HOLD_S)

    def shut(self, step: str) -> None:
        """From now on calls of this step wait."""
        with self._changed:
            self._shut.add(step)

    def open(self, step: str) -> None:
        """They may go on."""
        with self._changed:
            self._shut.discard(step)
            self._changed.notify_all()

    def close(self) -> None:
        """Nothing is held any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def count(self) -> int:
        """How many calls were made: what a later wait begins after."""
        with self._changed:
            return len(self._made)

    def wait(self, step: str, after: int, seconds: float, over: Callable[[], bool]) -> float | None:
        """When (monotonic) the first such call after the `after`-th came. None: not in time, or `over`."""
        end = time.monotonic() + seconds
        with self._changed:
            while True:
                found = next((at for made, at in self._made[after:] if made == step), None)
                if found is not None or time.monotonic() > end or over():
                    return found
                self._changed.wait(0.1)

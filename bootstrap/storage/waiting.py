"""Waits with a deadline of their own, told to whoever keeps a lifecycle hook alive."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
Heartbeat = Callable[[str], None]
"""Called at every turn of a wait with what is waited for; it may record a hook's heartbeat."""


def silent(_says: str) -> None:
    """A heartbeat that nobody hears."""


@dataclass(frozen=True)
class Clock:
    """Seconds that never go back, and how to pass them."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class Deadline:
    """`limit` seconds from now."""

    def __init__(self, limit: float, clock: Clock) -> None:
        self.limit = limit
        self._clock = clock
        self._began = clock.now()

    @property
    def seconds(self) -> float:
        """Passed so far."""
        return self._clock.now() - self._began

    @property
    def passed(self) -> bool:
        """Whether the limit is reached."""
        return self.seconds >= self.limit


def wait_for(
    look: Callable[[], T | None], limit: float, says: str, clock: Clock, heartbeat: Heartbeat, every: float
) -> tuple[T | None, float]:
    """The first answer of `look` that isn't None, or None after `limit` seconds; and the seconds it took."""
    deadline = Deadline(limit, clock)
    while True:
        answer = look()
        if answer is not None or deadline.passed:
            return answer, deadline.seconds
        heartbeat(says)
        clock.sleep(min(every, max(0.0, limit - deadline.seconds)))

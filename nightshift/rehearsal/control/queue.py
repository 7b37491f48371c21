"""The virtual clock: what is due next, in order of time and then of being asked for."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Any

Act = Callable[..., None]


class Queue:
    """`now` moves only as events are run. Instants are whole seconds since 1970, UTC."""

    def __init__(self, start: int) -> None:
        self.now = start
        self.run_count = 0
        self._due: list[tuple[int, int, Act, tuple[Any, ...]]] = []
        self._order = count()

    def at(self, when: int, act: Act, *arguments: Any) -> None:
        """Run `act(*arguments)` at `when`; what lies in the past is due now."""
        heappush(self._due, (max(when, self.now), next(self._order), act, arguments))

    def after(self, seconds: int, act: Act, *arguments: Any) -> None:
        """Run `act` so many seconds from now."""
        self.at(self.now + seconds, act, *arguments)

    def run_until(self, end: int) -> None:
        """Everything that is due before `end`; then it is `end`."""
        while self._due and self._due[0][0] < end:
            self.now, _, act, arguments = heappop(self._due)
            self.run_count += 1
            act(*arguments)
        self.now = max(self.now, end)

"""The time by AWS's clock, which schedules go by; the node's own may be wrong, and may jump."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta


def since_boot() -> float:
    """Seconds that never go back, time asleep included; a monotonic clock stands still meanwhile."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class AwsClock:
    """The last time that AWS told, and what has passed since. Unknown until it told one."""

    def __init__(self, ask: Callable[[], datetime | None], passed: Callable[[], float] = since_boot) -> None:
        self._ask, self._passed = ask, passed
        self._told: tuple[datetime, float] | None = None

    def refresh(self) -> None:
        """Ask again. Raises what the call raises; the last answer stands then."""
        before = self._passed()
        told = self._ask()
        if told is not None:
            self._told = (told, before)

    def now(self) -> datetime | None:
        """Aware; None while AWS has never told."""
        return self.at(self._passed())

    def at(self, moment: float) -> datetime | None:
        """When it was `moment` on the clock of `since_boot`; None while AWS has never told."""
        if self._told is None:
            return None
        told, at = self._told
        return told + timedelta(seconds=moment - at)

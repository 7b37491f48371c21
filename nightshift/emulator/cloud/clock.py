"""The server's clock: it can be set to any moment, from which it ticks on."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

_travel: list[Any] = []


def set_now(at: datetime) -> None:
    """Move the whole process to `at` (aware), forward or back; time then runs on from there."""
    if at.tzinfo is None:
        raise ValueError("the time must carry a zone, such as 2026-12-07T11:00:00Z")
    import time_machine  # slow: it imports pytest where there is one

    back_to_real()
    travel = time_machine.travel(at, tick=True)
    travel.start()
    _travel.append(travel)


def back_to_real() -> None:
    """End the travel."""
    while _travel:
        _travel.pop().stop()


def now() -> datetime:
    """The server's time, UTC."""
    return datetime.now(UTC)

"""A word to everyone at a terminal of this node.

Written to the terminals themselves: wall(1) goes by utmp, in which sessions of Systems Manager and terminals
in a notebook don't stand. Nobody waits: a terminal that takes nothing now is passed over.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from datetime import datetime
from pathlib import Path

MARKS_MIN = (15, 5)
"""Minutes before its end at which a shift's end is said."""


class Reminder:
    """When to say that a shift ends: once for each mark, and anew when the end moves."""

    def __init__(self) -> None:
        self._ends_at: datetime | None = None
        self._told: set[int] = set()

    def due(self, ends_at: datetime | None, now: datetime | None) -> int | None:
        """Whole minutes left, at least one, when it's time to say so."""
        if ends_at != self._ends_at:
            self._ends_at, self._told = ends_at, set()
        if ends_at is None or now is None or now >= ends_at:
            return None
        left = (ends_at - now).total_seconds() / 60
        passed = {mark for mark in MARKS_MIN if left <= mark}
        if passed <= self._told:
            return None
        self._told |= passed
        return max(1, round(left))


def tell(text: str, dev: Path = Path("/dev")) -> int:
    """Write it on every pseudo-terminal; how many took it."""
    plain = "".join(each if each.isprintable() else " " for each in text)
    line = f"\r\n\a*** Nightshift: {plain} ***\r\n".encode()
    taken = 0
    for terminal in _terminals(dev):
        with suppress(OSError):
            handle = os.open(terminal, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
            try:
                taken += os.write(handle, line) == len(line)
            finally:
                os.close(handle)
    return taken


def _terminals(dev: Path) -> list[Path]:
    try:
        return sorted(each for each in (dev / "pts").iterdir() if each.name.isdecimal())
    except OSError:
        return []


def tell_soon(text: str, dev: Path) -> threading.Thread:
    """`tell` on a thread of its own, so that no terminal costs any time."""
    thread = threading.Thread(target=tell, args=(text, dev), name="word", daemon=True)
    thread.start()
    return thread

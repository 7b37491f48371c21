"""What comes true within seconds."""

from __future__ import annotations

import time
from collections.abc import Callable


def soon(true: Callable[[], bool], within_s: float = 10) -> bool:
    """Whether it did in time."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.02)
    return False

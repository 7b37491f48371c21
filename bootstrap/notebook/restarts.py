"""How often a notebook that ends is started again. Pure."""

from __future__ import annotations

from collections.abc import Sequence

MOST, WITHIN_S = 5, 600.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 30.0


def pause_s(ends: Sequence[float], now: float) -> float | None:
    """Seconds until the next start, given when it ended before, the last end with it; None: never again.

    Five times within ten minutes are answered, with growing pauses; one that ran longer has earned new ones.
    """
    recent = sum(now - each < WITHIN_S for each in ends)
    if recent > MOST:
        return None
    return min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 3.0 ** max(0, recent - 1))

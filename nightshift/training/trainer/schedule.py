"""The learning rate over a run."""

from __future__ import annotations

import math


def factor(step: int, *, total: int, warmup: int) -> float:
    """Of the peak, at `step` of `total`: up in a line over `warmup` steps, then down a cosine to 0."""
    warmup = min(warmup, total)
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, total - warmup)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, done)))

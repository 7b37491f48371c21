"""How long things take when nothing real does them: medians and 99th percentiles, with sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log
from statistics import NormalDist
from types import MappingProxyType

from nightshift.rehearsal.control.dice import chance

_Z99 = NormalDist().inv_cdf(0.99)


@dataclass(frozen=True)
class Timing:
    """Seconds, lognormal through both figures. `source`: who measured it, or that it's assumed."""

    median: float
    p99: float
    source: str

    def draw(self, seed: int, *words: object) -> int:
        """A whole number of seconds, at least 1 and at most twice the 99th percentile."""
        drawn = self.median * exp(self._sigma * NormalDist().inv_cdf(max(1e-9, chance(seed, *words))))
        return max(1, round(min(drawn, 2 * self.p99)))

    @property
    def _sigma(self) -> float:
        return _sigma(self.median, self.p99)


@lru_cache(maxsize=64)
def _sigma(median: float, p99: float) -> float:
    return log(p99 / median) / _Z99


TIMINGS: Mapping[str, Timing] = MappingProxyType(
    {
        "reach": Timing(26, 60, "RunInstances to a shell, a public measurement of tuned images; p99 assumed"),
        "boot": Timing(150, 420, "assumed: packages held, runtime unpacked, every check, on a GPU image"),
        "attach": Timing(8, 22, "docs/storage.md, two nodes taking two volumes"),
        "detach": Timing(5, 20, "assumed: EBS after a clean unmount"),
        "drain": Timing(20, 60, "stop, save (docs/training.md), sync, unmount; p99 assumed"),
        "health": Timing(90, 300, "assumed: EC2 health check to Auto Scaling's replacement"),
        "relaunch": Timing(20, 60, "assumed: an abandoned launch to the next"),
        "save": Timing(2, 3, "1 GB of state to a local disk, measured for docs/training.md"),
    }
)
LATE_AT_MOST_S = 120
"""A scheduled action may fire two minutes late (Auto Scaling User Guide, scheduled scaling)."""
NOTICE_S = 120
"""From a spot notice to the end (EC2 User Guide)."""
RETRY_FIRST_S, RETRY_MOST_S = 60, 1_800
"""Auto Scaling tries a refused launch again, ever more seldom; the figures are assumed."""
GIVES_UP_S = 86_400
"""A group that could launch nothing for a day is suspended by AWS (Auto Scaling User Guide)."""
SNAPSHOT_WITHIN_S = 3_600
"""DLM starts within the hour after its time (EC2 User Guide)."""
LOOK_S = 5
"""A node asks its metadata so often (bootstrap/start/edges.py)."""
ASKS_S = 30
"""After three looks in vain, some seconds each, a node asks its group (bootstrap/lifecycle/watch.py)."""

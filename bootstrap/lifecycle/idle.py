"""Whether the cards do nothing: a window of samples, each the busiest card's utilisation."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

from bootstrap.manifest import BootIdle

COMMAND = ("nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits")
EVERY_S = 30.0
_LINE = re.compile(r"\d{1,3}")


def busiest(lines: Sequence[str]) -> int | None:
    """Percent of the busiest card; None when a line is no number: `[N/A]` says nothing about work."""
    told = [line.strip() for line in lines if line.strip()]
    if not told or not all(_LINE.fullmatch(line) for line in told):
        return None
    return max(int(line) for line in told)


class IdleWindow:
    """Samples of the last `lasting_s` seconds. A gap of samples proves nothing: the window begins anew."""

    def __init__(self, rule: BootIdle) -> None:
        self._rule = rule
        self._samples: deque[tuple[float, int]] = deque()

    def note(self, now: float, percent: int | None) -> bool:
        """Whether every sample of a whole window lies under the rule's percent. `now` is monotonic."""
        late = bool(self._samples) and now - self._samples[-1][0] > 4 * EVERY_S
        if percent is None or percent >= self._rule.below_percent or late:
            self._samples.clear()
        if percent is None or percent >= self._rule.below_percent:
            return False
        self._samples.append((now, percent))
        full = now - self._samples[0][0] >= self._rule.lasting_s
        while now - self._samples[0][0] > self._rule.lasting_s + EVERY_S:
            self._samples.popleft()
        return full

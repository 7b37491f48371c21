"""What a campaign found: seconds by event, hangs, problems; written again and again while it runs."""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any


class Figures:
    """`problems` is empty when all held."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._began = time.monotonic()
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.hung: dict[str, int] = defaultdict(int)
        self.counts: dict[str, int] = defaultdict(int)
        self.problems: list[str] = []

    @property
    def passed_s(self) -> float:
        return time.monotonic() - self._began

    def took(self, event: str, seconds: float) -> None:
        self.seconds[event].append(round(seconds, 2))
        print(f"{self.passed_s:.0f} s: {event} {seconds:.2f}", file=sys.stderr)

    def hang(self, event: str, words: str) -> None:
        self.hung[event] += 1
        print(f"{self.passed_s:.0f} s: {event} HUNG: {words}", file=sys.stderr)

    def problem(self, words: str) -> None:
        self.problems.append(words)
        print(f"{self.passed_s:.0f} s: {words}", file=sys.stderr)

    def table(self) -> dict[str, Any]:
        """By event: rounds, hangs, p50 and p100 of those that didn't hang."""
        events = sorted({*self.seconds, *self.hung})
        return {
            event: {
                "n": len(self.seconds[event]) + self.hung[event],
                "hung": self.hung[event],
                **quantiles(self.seconds[event]),
                "all": self.seconds[event],
            }
            for event in events
        }

    def write(self) -> None:
        if self._file is not None:
            told = {
                "events": self.table(),
                "counts": dict(self.counts),
                "problems": self.problems,
                "took_s": round(self.passed_s),
            }
            part = self._file.with_suffix(".part")
            part.write_text(json.dumps(told))
            part.replace(self._file)


def quantiles(values: list[float]) -> dict[str, float | None]:
    """p50 and the longest, in seconds."""
    ordered = sorted(values)
    if not ordered:
        return {"p50": None, "p100": None}
    return {"p50": ordered[len(ordered) // 2], "p100": ordered[-1]}

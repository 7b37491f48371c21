"""Where the time of one launch went. Seconds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


@dataclass
class Ledger:
    """`started_s`: from the process's start to its first batch: imports, loading, the loader's own start.

    `first_step_s`: the first step, which compiles. `input_s`: the script waited for a batch; `saving_s`: it
    stood still for saves; `agreeing_s`: for the other ranks' word; `aside_s`: evaluation and whatever else
    the script notes. Each is in no other.
    """

    now: Callable[[], float] = time.perf_counter
    born: float = field(default_factory=lambda: time.perf_counter() - process_age_s())
    started_s: float = 0.0
    first_step_s: float = 0.0
    input_s: float = 0.0
    saving_s: float = 0.0
    agreeing_s: float = 0.0
    aside_s: float = 0.0
    steps: int = 0
    _begun: bool = False

    @property
    def total_s(self) -> float:
        return self.now() - self.born

    @property
    def training_s(self) -> float:
        """What is left for the steps after the first."""
        lost = (
            self.started_s + self.first_step_s + self.input_s + self.saving_s + self.agreeing_s + self.aside_s
        )
        return max(0.0, self.total_s - lost)

    @property
    def restart_s(self) -> float:
        """From the process's start to the end of its first step."""
        return self.started_s + self.first_step_s

    def step_done(self) -> None:
        """One more step."""
        self.steps += 1
        if self.steps == 1:
            self.first_step_s = self.training_s

    @contextmanager
    def counting(self, name: str) -> Generator[None]:
        """Add what passes inside to the field of this name."""
        began = self.now()
        try:
            yield
        finally:
            setattr(self, name, getattr(self, name) + self.now() - began)

    def waiting(self, source: Iterable[T]) -> Generator[T]:
        """The same items; the waits for them are counted, the first one as part of the start."""
        items = iter(source)
        while True:
            began = self.now()
            try:
                item = next(items)
            except StopIteration:
                return
            if self._begun:
                self.input_s += self.now() - began
            else:
                self.started_s, self._begun = self.now() - self.born, True
            yield item


def process_age_s(stat: Path = Path("/proc/self/stat"), uptime: Path = Path("/proc/uptime")) -> float:
    """Since this process began, by proc(5): its start is field 22, in clock ticks since boot. 0 elsewhere."""
    try:
        ticks = int(stat.read_text().rpartition(")")[2].split()[19])
        return max(0.0, float(uptime.read_text().split()[0]) - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError):
        return 0.0

"""Faults of the network and of what answers on it: by step, for a number of times, a while, or for good."""

from __future__ import annotations

import fnmatch
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

How = Literal["reset", "lost", "hang", "error", "slow", "short"]
"""reset: the connection breaks before anything is done; lost: it's done, and the answer is lost;
hang: no answer; error: status 500; slow: `seconds` late; short: the answer breaks off in its middle."""


@dataclass
class Fault:
    """What befalls steps that match `step`, a pattern such as `s3.GetObject*`.

    It wakes when a step matches `after` (None: it is awake), that step included, and then lasts `lasting`
    seconds and `times` steps; None is for good. `spares`: a pattern of steps that it never hits.
    """

    step: str
    how: How
    times: int | None = None
    after: str | None = None
    lasting: float | None = None
    seconds: float = 2.0
    spares: str | None = None
    hits: int = 0
    woken: float | None = None

    def befalls(self, step: str, now: float) -> bool:
        """Whether this step is hit; counts it."""
        if self.woken is None and (self.after is None or fnmatch.fnmatchcase(step, self.after)):
            self.woken = now
        if self.woken is None or not fnmatch.fnmatchcase(step, self.step):
            return False
        if self.spares is not None and fnmatch.fnmatchcase(step, self.spares):
            return False
        if self.times is not None and self.hits >= self.times:
            return False
        if self.lasting is not None and now - self.woken > self.lasting:
            return False
        self.hits += 1
        return True


@dataclass
class Faults:
    """The faults in force, and every step that was taken, in order. `heard` is called with each step."""

    rules: list[Fault] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    heard: Callable[[str], None] = lambda _step: None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(
        self,
        step: str,
        how: How,
        *,
        times: int | None = None,
        after: str | None = None,
        lasting: float | None = None,
        seconds: float = 2.0,
    ) -> Fault:
        """A new fault, in force at once or from `after` on."""
        made = Fault(step, how, times, after, lasting, seconds)
        with self._lock:
            self.rules.append(made)
        return made

    def clear(self) -> None:
        """All is well again."""
        with self._lock:
            self.rules.clear()

    def take(self, step: str) -> Fault | None:
        """Note the step; the first fault that befalls it, if any."""
        self.heard(step)
        now = time.monotonic()
        with self._lock:
            self.steps.append(step)
            return next((rule for rule in list(self.rules) if rule.befalls(step, now)), None)

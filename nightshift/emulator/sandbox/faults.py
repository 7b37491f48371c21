"""Faults of the network and of what answers on it: by step, for a number of times or until taken back."""

from __future__ import annotations

import fnmatch
import threading
from dataclasses import dataclass, field
from typing import Literal

How = Literal["reset", "lost", "hang", "error", "slow", "short"]
"""reset: the connection breaks before anything is done; lost: it's done, and the answer is lost;
hang: no answer; error: status 500; slow: `seconds` late; short: the answer breaks off in its middle."""


@dataclass
class Fault:
    """`step` is a pattern such as `s3.GetObject*`; `times` None: until it's cleared."""

    step: str
    how: How
    times: int | None = None
    seconds: float = 2.0
    hits: int = 0


@dataclass
class Faults:
    """The faults in force, and every step that was taken, in order."""

    rules: list[Fault] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, step: str, how: How, *, times: int | None = None, seconds: float = 2.0) -> Fault:
        """A new fault, in force at once."""
        made = Fault(step, how, times, seconds)
        with self._lock:
            self.rules.append(made)
        return made

    def clear(self) -> None:
        """All is well again."""
        with self._lock:
            self.rules.clear()

    def take(self, step: str) -> Fault | None:
        """Note the step; the fault that befalls it, if any, one of its times used up."""
        with self._lock:
            self.steps.append(step)
            for rule in self.rules:
                spent = rule.times is not None and rule.hits >= rule.times
                if not spent and fnmatch.fnmatchcase(step, rule.step):
                    rule.hits += 1
                    return rule
        return None

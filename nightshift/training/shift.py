"""Hearing that the shift ends, and deciding with all ranks at the same step what to do."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from nightshift.training import pacing
from nightshift.training.job import Drain, Job, Shift
from nightshift.training.pacing import Cost
from nightshift.training.ranks import Team

TERMINATED = Drain("SIGTERM")


class Notice:
    """A drain as this rank sees it: SIGTERM (again and again is the same), or the agent's file."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._terminated = False
        self._before: object = None

    def listen(self) -> None:
        """Catch SIGTERM from now on. Only a main thread can."""
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGTERM, self._on_signal)

    def stop(self) -> None:
        """Give SIGTERM back to who had it."""
        if callable(self._before) or isinstance(self._before, signal.Handlers):
            signal.signal(signal.SIGTERM, self._before)
            self._before = None

    def seen(self) -> Drain | None:
        """The file says more, so it's asked first."""
        return self._job.drain() or (TERMINATED if self._terminated else None)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._terminated = True


@dataclass(frozen=True)
class Word:
    """What all ranks have agreed on at one step. `ask_in`: steps until the next agreement."""

    drain: bool
    save: bool
    ask_in: int


class Clock:
    """Keeps what the first rank needs to say when a save is due."""

    def __init__(self, *, nodes: int, size: int, every_s: float | None, now: Callable[[], float]) -> None:
        self.cost: Cost = pacing.guessed_cost(size)
        self.step_s = 0.0
        self._nodes = nodes
        self._every_s = every_s
        self._now = now
        self._saved_at = now()
        self._left_then: float | None = None

    def step_took(self, seconds: float) -> None:
        """A running mean that forgets: a compile at the first step counts for little after twenty."""
        self.step_s = seconds if self.step_s == 0 else 0.8 * self.step_s + 0.2 * seconds

    def save_began(self, shift: Shift) -> None:
        self._saved_at = self._now()
        self._left_then = left(shift)

    def interval(self, shift: Shift) -> float:
        """Seconds between saves as things stand."""
        if self._every_s is not None:
            return self._every_s
        losses = pacing.loss_every(shift.mean_between_losses_s, self._nodes, left(shift))
        return pacing.save_interval(self.cost, losses)

    def due(self, shift: Shift) -> bool:
        return pacing.save_due(
            since_save_s=self._now() - self._saved_at,
            interval_s=self.interval(shift),
            left_s=left(shift),
            guard_s=pacing.guard(self.cost, self.step_s),
            last_save_left_s=self._left_then,
        )


def left(shift: Shift) -> float | None:
    """Seconds of the shift that are left; None when nobody said when it ends."""
    return None if shift.ends_at is None else shift.ends_at - time.time()


def agree(control: Team, *, drain: bool, busy: bool, due: bool, step_s: float) -> Word:
    """Collective, a few dozen bytes: any rank's drain is everyone's; the first rank's clock counts."""
    lead = control.leads
    words = [int(drain), int(due and lead), int(busy), pacing.ask_every(step_s) if lead else 0]
    drains, saves, flying, steps = control.largest(words)
    return Word(bool(drains), bool(saves and not flying), max(1, steps))

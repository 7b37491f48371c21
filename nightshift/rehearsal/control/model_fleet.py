"""Nodes that aren't there: times are drawn from the table of timings, training is a straight line.

Steps are the model's own: one a second. What a volume holds of a job survives its nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp

from nightshift.rehearsal.control.dice import chance
from nightshift.rehearsal.control.fleet import Ails, Boot, Drain, Instance, Work
from nightshift.rehearsal.control.timing import TIMINGS

SAVE_EVERY_S = 150
"""What docs/training.md's rule gives for a save that blocks 0.5 s and a node lost every six hours."""
LONGEST_SAVE_S = 1_800
"""The longest time between saves that nightshift.training allows itself."""
_STEPS_PER_S = 1
_POINTS = 8
_SLOW_API_S = 180
_FAILS = {
    "boot-fails": "readiness: kernels: no GPU answers (rehearsed)",
    "disk-full": "runtime: no space left on the root disk (rehearsed)",
}


@dataclass
class _Held:
    """What the volumes of a group hold: the last saved step; `reached` is the running job's.

    `draining`: when a drain under way will have saved, and what.
    """

    saved: int = 0
    reached: int = 0
    draining: tuple[int, int] | None = None

    def settle(self, now: int) -> None:
        """A drain that came to its end by `now` has saved."""
        if self.draining is not None and self.draining[0] <= now:
            self.saved = max(self.saved, self.draining[1])
            self.draining = None


@dataclass
class ModelFleet:
    """A fleet of modelled nodes. `total_steps`: when a run is done, by group; the others never are."""

    seed: int
    total_steps: dict[str, int] = field(default_factory=dict)
    held: dict[str, _Held] = field(default_factory=dict)

    def real(self, group: str) -> bool:
        """Never."""
        return False

    def reach(self, instance: Instance, at: int, ails: Ails) -> Boot:
        """A machine comes up, its agent starts and reads its manifest."""
        if ails & {"imds-lost", "kill-agent"}:
            return Boot(None, False)
        seconds = TIMINGS["reach"].draw(self.seed, "reach", instance.id) + self._slow(ails)
        return Boot(seconds, True)

    def boot(self, instance: Instance, at: int, ails: Ails) -> Boot:
        """Volumes mounted, runtime unpacked, checks run; then its job goes on from what the volume holds."""
        if ails & {"imds-lost", "kill-agent", "network-split"}:
            return Boot(None, False)
        seconds = TIMINGS["boot"].draw(self.seed, "boot", instance.id) + self._slow(ails)
        for kind, why in _FAILS.items():
            if kind in ails:
                return Boot(max(1, seconds // 2), False, why)
        held = self._of(instance.group)
        held.settle(at)
        return Boot(seconds, True, resumed=held.saved if instance.manifest.job else None)

    def _slow(self, ails: Ails) -> int:
        return _SLOW_API_S if "api-throttled" in ails else 0

    def _of(self, group: str) -> _Held:
        return self.held.setdefault(group, _Held())

    def work(self, instance: Instance, since: int, until: int, ails: Ails) -> Work:
        """Steps since the resume, saved every SAVE_EVERY_S unless the disk is full."""
        held = self._of(instance.group)
        held.settle(since)
        begun, whole = held.saved, self.total_steps.get(instance.group)
        steps = (until - since) * _STEPS_PER_S
        left = steps if whole is None else min(steps, max(0, whole - begun))
        write = TIMINGS["save"].draw(self.seed, "save", instance.id, since)
        saves = 0 if "disk-full" in ails else max(0, until - since - write) // SAVE_EVERY_S
        held.reached = begun + left
        held.saved = min(held.reached, begun + saves * SAVE_EVERY_S * _STEPS_PER_S)
        finished = since + (left // _STEPS_PER_S) if whole is not None and held.reached >= whole else None
        may_lose = (SAVE_EVERY_S + write) * _STEPS_PER_S
        points = tuple(self._points(instance.group, begun, since, left))
        return Work(held.reached, held.saved, may_lose, points, finished)

    def _points(self, group: str, begun: int, since: int, steps: int) -> list[tuple[int, int, float]]:
        found = []
        for number in range(_POINTS):
            done = steps * number // (_POINTS - 1)
            step = begun + done
            noise = 0.04 * (chance(self.seed, "loss", group, step) - 0.5)
            found.append(
                (since + done // _STEPS_PER_S, step, round(0.4 + 2.1 * exp(-step / 150_000) + noise, 4))
            )
        return found

    def drain(self, instance: Instance, at: int, budget_s: int, planned: bool, ails: Ails) -> Drain:
        """Stops and saves; without an agent nothing is heard."""
        held = self._of(instance.group)
        if "kill-agent" in ails or ("imds-lost" in ails and not planned):
            return Drain(None, held.reached, held.saved, "nobody is there to drain it")
        seconds = TIMINGS["drain"].draw(self.seed, "drain", instance.id) + self._slow(ails)
        if "disk-full" in ails:
            return Drain(seconds, held.reached, held.saved, "drained; the last save found no room")
        held.draining = (at + seconds, held.reached)
        return Drain(seconds, held.reached, held.reached)

    def gone(self, instance: Instance, at: int, how: str) -> None:
        """Nothing of it is left but what it saved; a drain that is cut short saves nothing more."""
        held = self._of(instance.group)
        held.settle(at)
        held.draining = None
        held.reached = held.saved

    def finish_s(self, instance: Instance, at: int) -> int | None:
        """From the volume's step to the whole run, at the model's pace."""
        whole = self.total_steps.get(instance.group)
        return None if whole is None else max(1, (whole - self._of(instance.group).saved) // _STEPS_PER_S)

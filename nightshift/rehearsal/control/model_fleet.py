"""Nodes that aren't there: times are drawn from the table of timings, training is a straight line.

Steps are the model's own: one a second. What a volume holds of a job survives its nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp

from nightshift.plan.calendar import Override
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

    `draining`: by node, when its drain will have saved, and what. `full`: from when to when no save fits.
    `killed`: when its agent was killed last, with the job.
    """

    saved: int = 0
    reached: int = 0
    draining: dict[str, tuple[int, int]] = field(default_factory=dict)
    full: tuple[int, int] = (0, 0)
    killed: int = -1

    def settle(self, now: int) -> None:
        """Drains that came to their end by `now` have saved."""
        for node, (done, step) in list(self.draining.items()):
            if done <= now:
                self.saved = max(self.saved, step)
                del self.draining[node]


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
        if "imds-lost" in ails:
            return Boot(None, False)
        seconds = TIMINGS["reach"].draw(self.seed, "reach", instance.id) + self._slow(ails)
        return Boot(seconds, True)

    def boot(self, instance: Instance, at: int, ails: Ails) -> Boot:
        """Volumes mounted, runtime unpacked, checks run; then its job goes on from what the volume holds."""
        if ails & {"imds-lost", "network-split"}:
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
        """Steps since the resume, saved every SAVE_EVERY_S while there is room."""
        held = self._of(instance.group)
        held.settle(since)
        begun, whole = held.saved, self.total_steps.get(instance.group)
        steps = (until - since) * _STEPS_PER_S
        left = steps if whole is None else min(steps, max(0, whole - begun))
        write = TIMINGS["save"].draw(self.seed, "save", instance.id, since)
        last = max(since, held.full[0]) if held.full[0] <= until < held.full[1] else until
        saves = max(0, last - since - write) // SAVE_EVERY_S
        held.reached = begun + left
        held.saved = min(held.reached, begun + saves * SAVE_EVERY_S * _STEPS_PER_S)
        finished = since + (left // _STEPS_PER_S) if whole is not None and held.reached >= whole else None
        may_lose = (SAVE_EVERY_S + write + until - last) * _STEPS_PER_S
        points = tuple(self._points(instance.group, begun, since, left))
        work = Work(held.reached, held.saved, may_lose, points, finished)
        if held.killed == until:
            held.reached = held.saved
        return work

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
        if "kill-agent" in ails:
            return Drain(None, held.reached, held.saved, "its agent is dead: nobody drains it")
        seconds = TIMINGS["drain"].draw(self.seed, "drain", instance.id) + self._slow(ails)
        if "disk-full" in ails:
            return Drain(seconds, held.reached, held.saved, "drained; the last save found no room")
        if "network-split" in ails:
            held.saved = held.reached
            return Drain(None, held.reached, held.reached, "saves, but can't tell AWS so")
        held.draining[instance.id] = (at + seconds, held.reached)
        return Drain(seconds, held.reached, held.reached)

    def strike(self, instance: Instance, at: int, kind: str, seconds: int) -> None:
        """A fault hits the node; each call is told of it besides."""
        if kind == "disk-full":
            self._of(instance.group).full = (at, at + seconds)
        if kind == "kill-agent":
            self._of(instance.group).killed = at

    def gone(self, instance: Instance, at: int, how: str) -> None:
        """Nothing of it is left but what it saved; a drain that is cut short saves nothing more."""
        held = self._of(instance.group)
        held.settle(at)
        held.draining.pop(instance.id, None)
        held.reached = held.saved

    def finish_s(self, instance: Instance, at: int) -> int | None:
        """From the volume's step to the whole run, at the model's pace."""
        whole = self.total_steps.get(instance.group)
        return None if whole is None else max(1, (whole - self._of(instance.group).saved) // _STEPS_PER_S)

    def obey(self, words: Mapping[str, Override]) -> None:
        """The control plane asks a modelled node's calendar by itself (levels.py)."""

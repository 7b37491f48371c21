"""What is seen of one generation's processes on this node."""

from __future__ import annotations

from dataclasses import dataclass

from bootstrap.launch.job_folder import JobFolder, Outcome, Progress
from bootstrap.launch.torchrun import Torchrun
from bootstrap.launch.watching import IDLE_SHARE, Life
from bootstrap.launch.workers import alive

_CPU_EVERY_S = 10.0


@dataclass
class Launch:
    """Times are monotonic seconds. `ending_at`: since when it's to end saved for the group's sake."""

    generation: int
    torchrun: Torchrun
    gpus: int
    began: float
    changed: float
    busy_at: float
    progress: Progress | None = None
    outcome: Outcome | None = None
    outcome_at: float | None = None
    missing_at: float | None = None
    ending_at: float | None = None
    termed: bool = False
    workers: tuple[int, ...] = ()
    cpu: float = 0.0
    looked_at: float = 0.0

    @property
    def step(self) -> int | None:
        return self.progress.step if self.progress else None

    def observe(self, folder: JobFolder, now: float, *, contract: bool) -> bool:
        """Look again; whether it told of another step."""
        told = folder.progress()
        moved = told is not None and (self.progress is None or told.step != self.progress.step)
        self.changed = now if moved else self.changed
        self.progress = told or self.progress
        if self.outcome is None:
            self.outcome = folder.outcome()
            self.outcome_at = now if self.outcome else None
        if contract and self.missing_at is None:
            self._count_workers(now)
        if now - self.looked_at >= _CPU_EVERY_S:
            self._measure(now)
        return moved

    def life(self, now: float, *, contract: bool, cut_off_s: float, usual_s: float | None) -> Life:
        """For `watching.stuck`."""
        return Life(
            age_s=now - self.began,
            step=self.step,
            still_s=now - self.changed,
            contract=contract,
            idle_s=now - self.busy_at,
            cut_off_s=cut_off_s,
            usual_s=usual_s,
        )

    def _count_workers(self, now: float) -> None:
        """torchrun sees a dead worker too, and takes its time; who keeps the contract leaves a word."""
        if len(self.workers) < self.gpus:
            self.workers = tuple(self.torchrun.workers())
        elif not all(alive(pid) for pid in self.workers):
            self.missing_at = now

    def _measure(self, now: float) -> None:
        used = self.torchrun.cage.cpu_s()
        if used is None or used - self.cpu > IDLE_SHARE * (now - self.looked_at):
            self.busy_at = now
        self.cpu, self.looked_at = used or 0.0, now

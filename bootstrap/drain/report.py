"""What came of a drain, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bootstrap.lifecycle.notice import Kind
from nightshift.records.drain import DrainRecord, DrainStep


@dataclass(frozen=True)
class Saved:
    """The newest checkpoint as far as it's known; `whole`: the job's last step is in it."""

    step: int
    checkpoint: str
    whole: bool


@dataclass(frozen=True)
class DrainReport:
    """`seconds` since the drain began, of `budget_s`; `saved` None when no job ran or nothing is known."""

    kind: Kind
    reason: str
    began: datetime
    seconds: float
    budget_s: float
    saved: Saved | None
    job: bool
    steps: tuple[DrainStep, ...]

    @property
    def left(self) -> tuple[DrainStep, ...]:
        """What could not be done."""
        return tuple(step for step in self.steps if not step.done)

    @property
    def clean(self) -> bool:
        """Whether everything was done in time."""
        return not self.left

    def took(self, name: str) -> float | None:
        """Seconds of a step; None if it wasn't come to."""
        return next((step.seconds for step in self.steps if step.name == name), None)

    def until(self, name: str) -> float | None:
        """Seconds from the notice until the step was over."""
        total = 0.0
        for step in self.steps:
            total += step.seconds
            if step.name == name:
                return total
        return None

    def record(self, node: str, group: str) -> DrainRecord:
        """For the data bucket."""
        saved = None if not self.job else bool(self.saved and self.saved.whole)
        return DrainRecord(
            node, group, self.kind, self.reason, self.began, self.seconds, self.budget_s, saved, self.steps
        )

"""One line on what a shift achieved."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Achieved:
    """One launch's. Seconds, images over all ranks; `mfu` None without a known peak."""

    step: int
    total: int
    steps: int
    redone: int
    images: int
    seconds: float
    training_s: float
    restart_s: float
    first_step_s: float
    input_s: float
    saving_s: float
    agreeing_s: float
    aside_s: float
    images_per_s: float
    mfu: float | None
    first_loss: float | None
    last_loss: float | None

    def facts(self) -> dict[str, object]:
        return {name: round(one, 4) if isinstance(one, float) else one for name, one in asdict(self).items()}

    def line(self) -> str:
        """For a person."""
        done = f"{self.step / self.total:.1%} done" if self.total else "nothing to do"
        parts = [
            f"{spelled(self.seconds)}: {self.steps:,} steps, step {self.step:,} of {self.total:,}, {done}",
            f"{self.images:,} images at {self.images_per_s:,.1f}/s" + _share(", {} MFU", self.mfu),
            f"loss {self.first_loss:.4g} to {self.last_loss:.4g}"
            if self.first_loss is not None and self.last_loss is not None
            else "",
            f"not training {self._lost():.1%} of it: start {spelled(self.restart_s)}, input "
            f"{spelled(self.input_s)}, saving {spelled(self.saving_s + self.agreeing_s)}, evaluation "
            f"{spelled(self.aside_s)}",
            f"{self.redone:,} steps done again" if self.redone else "",
            f"{spelled(self._to_go())} to go" if self.step < self.total and self.images_per_s else "",
        ]
        return "; ".join(part for part in parts if part)

    def _lost(self) -> float:
        return 1 - min(1.0, self.training_s / self.seconds) if self.seconds else 0.0

    def _to_go(self) -> float:
        """At this launch's pace, without its start."""
        paced = self.seconds - self.restart_s
        return paced / max(1, self.steps - 1) * (self.total - self.step)


def spelled(seconds: float) -> str:
    """In the two largest units that matter."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min"


def _share(text: str, share: float | None) -> str:
    return "" if share is None else text.format(f"{share:.1%}")

"""The folder that a run shares with the node's agent, by docs/training-contract.md."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from nightshift.training.files import replace

JOB = "NIGHTSHIFT_JOB"
CHECKPOINTS = "NIGHTSHIFT_CHECKPOINTS"
RUN = "NIGHTSHIFT_RUN"
VERSION = 1
FINISHED = 0
DRAINED = 75  # EX_TEMPFAIL of sysexits.h: not an error, try again later
FAILED = 1
PROGRESS_EVERY_S = 5.0


@dataclass(frozen=True)
class Drain:
    """The end that somebody asks for; `by`: unix seconds, None for soon."""

    reason: str
    by: float | None = None


@dataclass(frozen=True)
class Shift:
    """What the agent says of the shift: its end (unix s) and how often a node like this is lost (s)."""

    ends_at: float | None = None
    mean_between_losses_s: float | None = None


@dataclass(frozen=True)
class Outcome:
    """How a run ended. `saved`: the last step is in `checkpoint`."""

    outcome: str
    step: int
    position: int
    checkpoint: str | None
    saved: bool
    reason: str


@dataclass(frozen=True)
class Progress:
    """Steps and samples done, of `total` steps; the newest checkpoint and when (unix s) it was committed."""

    step: int
    total: int
    position: int
    checkpoint: str | None
    saved_at: float | None


@dataclass(frozen=True)
class Job:
    """`folder` None: outside of a node, nobody asks and nobody reads."""

    folder: Path | None

    def drain(self) -> Drain | None:
        """An unreadable notice is still a notice."""
        text = self._text("drain")
        if text is None:
            return None
        raw = _mapping(text)
        return Drain(str(raw.get("reason") or "asked by the node"), _number(raw.get("by")))

    def shift(self) -> Shift:
        """An unreadable file says nothing."""
        raw = _mapping(self._text("shift.json") or "")
        return Shift(_number(raw.get("ends_at")), _number(raw.get("mean_between_losses_s")))

    def forget(self) -> None:
        """Take away the outcome of an earlier launch."""
        if self.folder:
            (self.folder / "outcome.json").unlink(missing_ok=True)

    def conclude(self, outcome: Outcome) -> None:
        """Durable once this returns."""
        self._put("outcome.json", asdict(outcome), durable=True)

    def report(self, progress: Progress) -> None:
        self._put("progress.json", asdict(progress), durable=False)

    def _put(self, name: str, facts: Mapping[str, object], *, durable: bool) -> None:
        if self.folder:
            text = json.dumps({"version": VERSION, **facts, "at": round(time.time(), 3)})
            replace(self.folder / name, f"{text}\n".encode(), durable=durable)

    def _text(self, name: str) -> str | None:
        if self.folder is None:
            return None
        try:
            return (self.folder / name).read_text(errors="replace")
        except OSError:
            return None


def from_environment(environment: Mapping[str, str] = os.environ) -> Job:
    """The job's folder by NIGHTSHIFT_JOB; none when it isn't set or isn't there."""
    given = environment.get(JOB)
    return Job(Path(given) if given and Path(given).is_dir() else None)


def drained_code(environment: Mapping[str, str] = os.environ) -> int:
    """A worker of torchrun ends with 0, since anything else makes torchrun start it again."""
    return FINISHED if "TORCHELASTIC_RUN_ID" in environment else DRAINED


def _mapping(text: str) -> Mapping[str, object]:
    try:
        raw = json.loads(text)
    except ValueError:
        return {}
    return raw if isinstance(raw, dict) else {}


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None

"""What a run measured: JSON lines for programs, TensorBoard for eyes. A full disk costs a record only."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nightshift.training.errors import TrainingError
from nightshift.training.journal import Journal

METRICS = "metrics.jsonl"
SHIFTS = "shifts.jsonl"
TAIL_BYTES = 8192


class Records:
    """Of the run's first rank. `folder` None: nothing is kept."""

    def __init__(self, folder: Path | None, journal: Journal, *, step: int, tensorboard: bool) -> None:
        self._folder = folder
        self._journal = journal
        if folder:
            _made(folder)
        self.redone = max(0, last_step(folder / METRICS) - step) if folder else 0
        self._board = self._opened(step) if folder and tensorboard else None

    def add(self, step: int, values: Mapping[str, float | None]) -> None:
        """One record; None is left out of TensorBoard and null in JSON."""
        self._append(METRICS, {"step": step, **values})
        if self._board:
            for name, value in values.items():
                if value is not None:
                    self._board.add_scalar(name, value, step)

    def add_shift(self, facts: Mapping[str, object]) -> None:
        self._append(SHIFTS, facts)

    def close(self) -> None:
        if self._board:
            self._board.close()

    def _append(self, name: str, values: Mapping[str, object]) -> None:
        if self._folder is None:
            return
        try:
            with (self._folder / name).open("a") as stream:
                stream.write(json.dumps({"at": round(time.time(), 3), **values}) + "\n")
        except OSError as error:
            self._journal.note("record-not-written", file=name, reason=error.strerror)

    def _opened(self, step: int) -> Any:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            self._journal.note("no-tensorboard", reason="the package tensorboard is not installed")
            return None
        try:
            return SummaryWriter(f"{self._folder}/tensorboard", purge_step=step)
        except OSError as error:
            self._journal.note("no-tensorboard", reason=f"{self._folder}/tensorboard: {error.strerror}")
            return None


def _made(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrainingError(
            f"{folder}: the records' folder can't be made ({error.strerror}); remove what is there or give "
            "another --folder"
        ) from error


def last_step(path: Path) -> int:
    """The last step on record, 0 without one: what came after the checkpoint is done again."""
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, path.stat().st_size - TAIL_BYTES))
            lines = stream.read().splitlines()
    except OSError:
        return 0
    for line in reversed(lines):
        try:
            return int(json.loads(line)["step"])
        except (ValueError, KeyError, TypeError):
            continue
    return 0

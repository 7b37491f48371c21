"""The agent's side of the folder that it shares with the job (docs/training-contract.md)."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VERSION = 1


@dataclass(frozen=True)
class Outcome:
    """The job's own last word. `outcome`: finished, drained or failed."""

    outcome: str
    step: int | None
    checkpoint: str | None
    saved: bool
    reason: str


@dataclass(frozen=True)
class Progress:
    """How far the job is: steps done of `total`; newest checkpoint and when it was committed (unix s)."""

    step: int
    total: int | None
    checkpoint: str | None
    saved_at: float | None
    at: float | None


class JobFolder:
    """Unreadable files of the job count as not there, except that an outcome without words has failed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def prepare(self) -> None:
        """As it should be before a launch. What earlier launches told in events.jsonl stays."""
        self.path.mkdir(parents=True, exist_ok=True)
        for name in ("outcome.json", "drain", "progress.json"):
            (self.path / name).unlink(missing_ok=True)

    def ask_to_drain(self, reason: str, by: float | None) -> None:
        self._put("drain", {"reason": reason, "by": by})

    def tell_shift(self, ends_at: float | None, mean_between_losses_s: float | None) -> None:
        self._put("shift.json", {"ends_at": ends_at, "mean_between_losses_s": mean_between_losses_s})

    def outcome(self) -> Outcome | None:
        raw = self._get("outcome.json")
        if raw is None:
            return None
        word = raw.get("outcome")
        known = word in ("finished", "drained", "failed")
        return Outcome(
            str(word) if known else "failed",
            _whole(raw.get("step")),
            _text(raw.get("checkpoint")),
            raw.get("saved") is True,
            str(raw.get("reason") or ("" if known else "it left an outcome that can't be read")),
        )

    def progress(self) -> Progress | None:
        raw = self._get("progress.json")
        step = _whole(raw.get("step")) if raw else None
        if raw is None or step is None:
            return None
        return Progress(
            step,
            _whole(raw.get("total")),
            _text(raw.get("checkpoint")),
            _number(raw.get("saved_at")),
            _number(raw.get("at")),
        )

    def _get(self, name: str) -> dict[str, Any] | None:
        try:
            raw = json.loads((self.path / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            return {}
        return raw if isinstance(raw, dict) else {}

    def _put(self, name: str, facts: dict[str, object]) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        part = self.path / f".{name}.{os.getpid()}.part"
        part.write_text(json.dumps({"version": VERSION, **facts}) + "\n", encoding="utf-8")
        part.replace(self.path / name)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None

"""Rooms of a node that do as told, and note what is done with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bootstrap.drain.path import Ending, Job
from bootstrap.drain.report import Saved
from bootstrap.drain.volumes import Let
from bootstrap.readiness.verdict import Finding
from bootstrap.start.rooms import Heartbeat, NamedCheck, NotReady


@dataclass(frozen=True)
class End:
    """How the job ends."""

    kind: str = "drained"
    step: int | None = 7
    checkpoint: str | None = "step-000007"
    saved: bool = True
    reason: str = "asked"


@dataclass
class FakeJob:
    """Ends with `end` when it's asked to, or by itself once `over` is set."""

    end: End = field(default_factory=End)
    over: bool = False
    shifts: list[tuple[float | None, float | None]] = field(default_factory=list)

    def drain(self, reason: str, by: float | None) -> None:
        self.over = True

    def poll(self) -> Ending | None:
        return self.end if self.over else None

    def kill(self) -> list[int]:
        return []

    def set_shift(self, ends_at: float | None, mean_between_losses_s: float | None) -> None:
        self.shifts.append((ends_at, mean_between_losses_s))


@dataclass
class FakePeople:
    """Notes what they are told, and each look at the notebooks."""

    did: list[str]
    has_notebooks: bool = False
    words: list[str] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)

    def begin(self, python: Path) -> None:
        self.looks.append("begin")

    def look(self) -> None:
        self.looks.append("look")

    def keep(self) -> None:
        self.looks.append("keep")

    def tell(self, text: str) -> None:
        self.words.append(text)

    def leave(self, text: str) -> None:
        self.words.append(text)

    def end(self, limit_s: float) -> Let:
        self.did.append("notebooks")
        return Let(True, "ended")


@dataclass
class FakeRooms:
    """Rooms that note what is done with them. `during` is called where it is named: prepare, check, begin."""

    job: FakeJob = field(default_factory=FakeJob)
    did: list[str] = field(default_factory=list)
    finding: Finding = field(default_factory=lambda: Finding("driver", True, "595", "595", ""))
    during: dict[str, Callable[[], None]] = field(default_factory=dict)
    percent: int | None = 90
    cards: float = 4

    def __post_init__(self) -> None:
        self.people = FakePeople(self.did)

    @property
    def volumes(self) -> FakeRooms:
        return self

    def _at(self, name: str) -> None:
        self.did.append(name)
        self.during.pop(name, lambda: None)()

    def unmount(self, limit_s: float) -> Let:
        self._at("unmount")
        return Let(True, "runs")

    def release(self, limit_s: float) -> Let:
        self._at("release")
        return Let(True, "vol-1")

    def end_left_over(self) -> None:
        self._at("end_left_over")

    def prepare(self, heartbeat: Heartbeat) -> Path:
        self._at("prepare")
        heartbeat("making the runtime ready")
        return Path("/runtime/bin/python")

    def checks(self, python: Path, heartbeat: Heartbeat) -> Sequence[NamedCheck]:
        def look() -> Finding:
            self._at("check")
            heartbeat("still looking")
            return self.finding

        return [NamedCheck("driver", look)]

    def begin(self, python: Path) -> FakeJob:
        self._at("begin")
        return self.job

    def saved(self, job: Job | None, ended: Ending | None) -> Saved | None:
        if job is None:
            return None
        end = ended or End(step=5, checkpoint="step-000005", saved=False)
        return Saved(end.step or 0, end.checkpoint or "", end.saved)

    def busiest(self) -> int | None:
        return self.percent

    def gpus(self) -> float:
        return self.cards

    def close(self) -> None:
        self._at("close")


def not_ready(check: str) -> NotReady:
    """What a room raises."""
    return NotReady(Finding(check, False, "one", "none", "make one"))

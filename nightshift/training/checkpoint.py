"""Checkpoints of a run: written behind its back, loaded from the newest whole one, by any number of ranks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nightshift.training import rng
from nightshift.training.errors import SaveError, TrainingError
from nightshift.training.folder import Folder, Lock, name_of
from nightshift.training.journal import Journal
from nightshift.training.loading import Loaded, load_newest
from nightshift.training.mirror import Copies, Mirror, pushing
from nightshift.training.ranks import Ranks, attempt, find_ranks
from nightshift.training.staging import Staging, own_share
from nightshift.training.state import TrainingState
from nightshift.training.writing import Parcel, write


@dataclass(frozen=True)
class SaveReport:
    """One save: `blocked_s` training stood still, `background_s` the write took. `error`: why it failed."""

    step: int
    bytes: int
    blocked_s: float
    background_s: float
    path: Path | None = None
    error: str | None = None


@dataclass
class _Flight:
    step: int
    size: int
    blocked_s: float
    done: Future[tuple[Path | None, float]] = field(default_factory=Future)


class Checkpoints:
    """Collective: every rank makes one and calls the same methods in the same order, all from one thread."""

    def __init__(
        self,
        root: Path,
        *,
        keep: int = 3,
        mirror: Copies | Callable[[Path], object] | None = None,
        journal: Journal | None = None,
        ranks: Ranks | None = None,
    ) -> None:
        if keep < 1:
            raise TrainingError(f"keep: given {keep}, at least 1 checkpoint must stay")
        root.mkdir(parents=True, exist_ok=True)
        self.ranks: Ranks = ranks or find_ranks(root)
        self.folder = Folder(root, keep)
        self.journal = journal or Journal(None, speaks=self.ranks.team.leads)
        self._staging = Staging()
        self._flight: _Flight | None = None
        self._lock = self._prepare()
        self._copies = mirror if isinstance(mirror, Copies) else None
        self._mirror = Mirror(pushing(mirror), self.journal) if mirror and self.ranks.team.leads else None

    def _prepare(self) -> Lock | None:
        lock, wrong = attempt_lock(self.folder.root) if self.ranks.team.leads else (None, None)
        problems = [says for says in self.ranks.control.gather(wrong) if says]
        if problems:
            raise TrainingError(*problems)
        if lock and (swept := self.folder.sweep()):
            self.journal.note("swept", left_by_a_killed_run=", ".join(swept))
        self.ranks.control.gather(None)
        return lock

    @property
    def busy(self) -> bool:
        """A save is on its way on this rank."""
        return self._flight is not None and not self._flight.done.done()

    def start(
        self,
        state: TrainingState,
        *,
        step: int,
        position: int,
        extra: Mapping[str, Any] | None = None,
        about: Mapping[str, object] | None = None,
    ) -> float:
        """Copy the state and let it be written. Returns the seconds that training stood still."""
        if self._flight is not None:
            raise RuntimeError("take the last save's report (poll or finish) before starting the next")
        began = time.perf_counter()
        captured = state.capture()
        team = self.ranks.team
        tensors = self._staging.copy(own_share(captured.tensors, captured.shareable, team.rank, team.size))
        plain = {**captured.plain, "extra": dict(extra or {}), "step": step, "position": position}
        parcel = Parcel(step, position, tensors, plain, self._random(), dict(about or {}))
        flight = _Flight(step, parcel.size, time.perf_counter() - began)
        self._flight = flight
        threading.Thread(target=self._write, args=(flight, parcel), name="checkpoint", daemon=True).start()
        return flight.blocked_s

    def _random(self) -> dict[int, Any]:
        """The random generators by rank: this one's, or all when only another node's disk may stay."""
        control, own = self.ranks.control, rng.capture()
        return {control.rank: own} if self.ranks.shared else dict(enumerate(control.gather(own)))

    def poll(self) -> SaveReport | None:
        """The report of a save that has ended since the last call."""
        return None if self._flight is None or self.busy else self.finish()

    def finish(self, timeout_s: float | None = None) -> SaveReport | None:
        """Wait for the save on its way, if any. Past `timeout_s` its report says so and it's given up."""
        flight, self._flight = self._flight, None
        if flight is None:
            return None
        try:
            path, took = flight.done.result(timeout_s)
        except FutureTimeout:
            said = f"not written within {timeout_s:.0f} s"
            return SaveReport(flight.step, flight.size, flight.blocked_s, timeout_s or 0.0, error=said)
        except SaveError as error:
            return SaveReport(flight.step, flight.size, flight.blocked_s, 0.0, error=str(error))
        return SaveReport(flight.step, flight.size, flight.blocked_s, took, path)

    def load(self, state: TrainingState) -> Loaded | None:
        """Put the newest whole checkpoint into `state` and the random generators. None when there is none.

        A mirror that can is asked when no volume has one.
        """
        pull = self._copies.pull if self._copies else None
        return load_newest(self.folder, self.ranks, state, self.journal, pull)

    def close(self, mirror_patience_s: float = 0.0) -> None:
        """Let the folder go; waits for a mirror on its way at most so long."""
        if self._mirror:
            self._mirror.close(mirror_patience_s)
        if self._lock:
            self._lock.release()
            self._lock = None

    def _write(self, flight: _Flight, parcel: Parcel) -> None:
        began = time.perf_counter()
        try:
            write(self.folder, self.ranks.team, parcel)
            self._tidy(name_of(parcel.step))
            path = self.folder.root / name_of(parcel.step)
            flight.done.set_result((path, time.perf_counter() - began))
        except SaveError as error:
            flight.done.set_exception(error)
        except BaseException as error:  # the waiting thread raises it
            flight.done.set_exception(SaveError(f"{type(error).__name__}: {error}"))

    def _tidy(self, name: str) -> None:
        if not self.ranks.team.leads:
            return
        held = self._mirror.send(self.folder.root / name) if self._mirror else frozenset()
        _, wrong = attempt(lambda: self.folder.prune(held))
        if wrong:
            self.journal.note("old-checkpoints-stay", reason=wrong)


def attempt_lock(root: Path) -> tuple[Lock | None, str | None]:
    """The folder's lock, or why it can't be had."""
    try:
        return Lock(root), None
    except TrainingError as error:
        return None, str(error)
    except OSError as error:
        return None, f"{root}: {error.strerror}"

"""Copies of committed checkpoints elsewhere (S3, another disk), by what the caller gives."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

from nightshift.training.journal import Journal


@runtime_checkable
class Copies(Protocol):
    """A place for copies. `push` gets a committed checkpoint's folder.

    `pull` is asked by one rank when no volume holds a whole checkpoint: it puts the newest whole copy under
    its own name into the folder of checkpoints and returns that name, or None when the place has none. What
    it raises ends the launch: to begin anew beside copies that can't be read would be worse.
    """

    def push(self, checkpoint: Path, /) -> object: ...

    def pull(self, folder: Path, /) -> str | None: ...


def pushing(given: Copies | Callable[[Path], object]) -> Callable[[Path], object]:
    """A plain function is a place that nothing comes back from."""
    return given.push if isinstance(given, Copies) else given


class Mirror:
    """One copy at a time in a thread of its own; a newer checkpoint replaces one that still waits."""

    def __init__(self, copy: Callable[[Path], object], journal: Journal) -> None:
        self._copy = copy
        self._journal = journal
        self._changed = threading.Condition()
        self._waiting: Path | None = None
        self._working: Path | None = None
        threading.Thread(target=self._run, name="mirror", daemon=True).start()

    def send(self, checkpoint: Path) -> frozenset[str]:
        """Queue it. Returns the names that must stay on disk meanwhile."""
        with self._changed:
            self._waiting = checkpoint
            self._changed.notify_all()
            return frozenset(path.name for path in (self._waiting, self._working) if path)

    def close(self, patience_s: float) -> bool:
        """Wait until nothing is on its way. False when it took longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not (self._waiting or self._working), patience_s)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting is not None)
                self._working, self._waiting = self._waiting, None
            if self._working:
                self._copy_noted(self._working)
            with self._changed:
                self._working = None
                self._changed.notify_all()

    def _copy_noted(self, checkpoint: Path) -> None:
        try:
            self._copy(checkpoint)
        except Exception as error:  # the caller's function may raise what it likes
            self._journal.note(
                "mirror-failed", checkpoint=checkpoint.name, reason=f"{type(error).__name__}: {error}"
            )
        else:
            self._journal.note("mirrored", checkpoint=checkpoint.name)

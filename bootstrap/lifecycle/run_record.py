"""Keeps the group's run record: the newest checkpoint that any node knows, and the mark of a finished run."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone

from bootstrap.drain.report import Saved
from nightshift.records.model import RunRecord
from nightshift.records.store import Records


def merged(known: RunRecord | None, new: RunRecord) -> RunRecord | None:
    """What to write over `known`, None when it says as much already.

    Nodes of one group write the same record: an older checkpoint never replaces a newer one of the same
    run, and the mark of a finished run stays.
    """
    if known is None or known.run != new.run:
        return new
    if known.done:
        return None
    if new.done:
        return new
    same = (known.step, known.checkpoint) == (new.step, new.checkpoint)
    return None if same or new.step < known.step else new


class RunKeeper:
    """One run's record. Raises what the store raises."""

    def __init__(
        self,
        records: Records,
        group: str,
        run: str,
        now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
    ) -> None:
        self._records, self._group, self._run, self._now = records, group, run, now

    def note(self, saved: Saved | None, *, done: bool = False) -> None:
        """Write the checkpoint, or that the run is finished; nothing where that is known."""
        if saved is None and not done:
            return
        step, checkpoint = (saved.step, saved.checkpoint) if saved else (0, "")
        new = RunRecord(self._group, step, checkpoint, done, self._now(), self._run)
        if (record := merged(self._records.run(self._group), new)) is not None:
            self._records.write_run(self._group, record)

"""All notebooks of a node: made once it's ready, looked at now and then, ended at its drain."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from bootstrap.drain.volumes import Let
from bootstrap.notebook.server import Server
from bootstrap.storage.waiting import Clock, Deadline
from nightshift.records.notebook import Notebook

TURN_S, KILL_LEAST_S = 0.05, 1.0


class Notebooks:
    """`kill` ends every process of any, and gives the ids of those that the kernel holds. `refused`: those
    that can't even be tried."""

    def __init__(
        self,
        servers: Sequence[Server],
        kill: Callable[[float], list[int]],
        refused: Sequence[Notebook] = (),
        clock: Clock | None = None,
    ) -> None:
        self._servers, self._kill, self._refused = tuple(servers), kill, tuple(refused)
        self._clock = clock or Clock()
        self._lock = threading.Lock()
        self._asked = threading.Event()
        self._ending = False

    @property
    def records(self) -> tuple[Notebook, ...]:
        """How each is reached, in the order of their ports."""
        told = (*(each.record for each in self._servers), *self._refused)
        return tuple(sorted(told, key=lambda each: each.port))

    def look(self) -> None:
        """See to all of them. At most one is started at a time: their beginnings take CPU from the job."""
        with self._lock:
            if self._ending:
                return
            for each in self._servers:
                each.look()
            first = next((each for each in self._servers if each.due), None)
            if first is not None:
                first.start()

    def leave(self) -> None:
        """Ask all to end, on a thread of its own: a drain waits for nothing here."""
        self._ending = True
        threading.Thread(target=self._ask, name="notebooks", daemon=True).start()

    def _ask(self) -> None:
        with self._lock:
            for each in self._servers:
                each.ask_to_end()
        self._asked.set()

    def end(self, limit_s: float) -> Let:
        """Wait for those that were asked, then kill what is left, also what somebody began in a terminal."""
        deadline = Deadline(limit_s, self._clock)
        while not self._ended and not deadline.passed:
            self._clock.sleep(TURN_S)
        late = [each.record.user for each in self._servers if each.runs]
        left_s = max(KILL_LEAST_S, limit_s - deadline.seconds)
        held = self._lock.acquire(timeout=left_s)
        try:
            left = self._kill(left_s)
        finally:
            if held:
                self._lock.release()
        for each in self._servers:
            each.close()
        if left:
            return Let(False, f"the kernel holds {', '.join(map(str, left))}")
        return Let(True, f"killed: {', '.join(late)}" if late else "ended")

    @property
    def _ended(self) -> bool:
        return self._asked.is_set() and not any(each.runs for each in self._servers)

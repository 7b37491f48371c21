"""What a node does now and then while it works, in a thread of its own: a slow answer delays no notice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bootstrap.aws import AwsError
from nightshift.records.errors import RecordsError


@dataclass(frozen=True)
class Chore:
    """`act` every `every_s` seconds; what AWS or a record refuses is said and tried again next time."""

    name: str
    every_s: float
    act: Callable[[], None]


class Chores:
    """Runs them in turn. An error that is none of AWS's is the agent's own: `check` raises it."""

    def __init__(self, chores: Sequence[Chore], say: Callable[[str], None], turn_s: float = 0.5) -> None:
        self._chores, self._say, self._turn_s = chores, say, turn_s
        self._stopped = threading.Event()
        self._broken: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="chores", daemon=True)

    def __enter__(self) -> Chores:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """One under way isn't waited for."""
        self._stopped.set()

    def check(self) -> None:
        """Raises what broke a chore."""
        if self._broken is not None:
            raise self._broken

    def _run(self) -> None:
        due = {each.name: time.monotonic() for each in self._chores}
        try:
            while not self._stopped.wait(self._turn_s):
                for each in self._chores:
                    if time.monotonic() >= due[each.name] and not self._stopped.is_set():
                        self._do(each)
                        due[each.name] = time.monotonic() + each.every_s
        except Exception as error:
            self._broken = error

    def _do(self, chore: Chore) -> None:
        try:
            chore.act()
        except (RecordsError, *AwsError) as error:
            self._say(f"{chore.name}: {error}; again in {chore.every_s:g} s")

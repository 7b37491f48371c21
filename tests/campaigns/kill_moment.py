"""The moment of a kill: after so many requests that changed something, a little later, SIGKILL."""

from __future__ import annotations

import json
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nightshift.emulator.engine.workspace import Running
from tests.engine.support.site import Deployed

_READS = ("Describe", "Get", "List", "Head")
_POLL_S = 0.003
VICTIMS = ("cli", "terraform", "bridge", "proxy", "tree")
"""The engine's process; Terraform's provider; the bridge to it; what the engine attaches to; all of them."""


class RequestLog:
    """The emulated cloud's log file, read from where it stood when `mark` was last called."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0

    def mark(self) -> None:
        """Forget what came so far."""
        self._at = self._path.stat().st_size

    def changing(self) -> int:
        """How many requests since the mark changed something."""
        return sum(map(_changes, self._lines()))

    def operations(self) -> list[str]:
        """Names of all requests since the mark that changed something."""
        return [json.loads(line)["operation"] for line in self._lines() if _changes(line)]

    def _lines(self) -> Iterator[str]:
        with self._path.open(encoding="utf-8") as lines:
            lines.seek(self._at)
            yield from lines

    def wait(self, requests: int, ended: threading.Event) -> bool:
        """Return True as soon as that many changed something, False when `ended` comes first."""
        with self._path.open(encoding="utf-8") as lines:
            lines.seek(self._at)
            seen, rest = 0, ""
            while seen < requests:
                line = rest + lines.readline()
                if line.endswith("\n"):
                    seen, rest = seen + _changes(line), ""
                    continue
                rest = line
                if ended.wait(_POLL_S) and not lines.readline():
                    return False
        return True


def _changes(line: str) -> bool:
    entry = json.loads(line)
    return entry["status"] < 400 and not entry["rule"] and not entry["operation"].startswith(_READS)


def victims(who: str, running: Running, site: Deployed) -> list[int]:
    """The processes to kill, parents first."""
    engine, provider = running.process.pid, site.workspace.pids
    assert provider is not None
    named = {
        "cli": [engine],
        "terraform": [*provider.terraform],
        "bridge": [provider.bridge],
        "proxy": [provider.proxy],
    }
    if who != "tree":
        return named[who]
    return [engine, *descendants(engine), provider.proxy, provider.bridge, *provider.terraform]


def descendants(pid: int) -> list[int]:
    """All processes below `pid` that live."""
    found = []
    for child in _children(pid):
        found += [child, *descendants(child)]
    return found


def _children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            text = task.read_text(encoding="ascii")
        except OSError:
            continue
        yield from map(int, text.split())


def kill(pids: Iterable[int]) -> int:
    """SIGKILL each that still lives; returns how many."""
    killed = 0
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
            killed += 1
        except ProcessLookupError:
            continue
    return killed


def watched(pids: Iterable[int]) -> list[int]:
    """Handles of the processes that live: a process id may soon be another's."""
    handles = []
    for pid in pids:
        with suppress(ProcessLookupError):
            handles.append(os.pidfd_open(pid))
    return handles


def outlived(handles: Iterable[int], patience_s: float) -> int:
    """How many of the processes are still there after `patience_s`; they are ended."""
    until, number = time.monotonic() + patience_s, 0
    for handle in handles:
        alive = not select.select([handle], [], [], max(0.0, until - time.monotonic()))[0]
        if alive:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            number += 1
        os.close(handle)
    return number


@contextmanager
def killing(
    log: RequestLog, requests: int, delay_s: float, act: Callable[[], int]
) -> Generator[dict[str, int]]:
    """While the block runs, calls `act` once, `delay_s` after the given number of changing requests.

    Yields what became of it: `killed` is what `act` returned, 0 when the moment never came.
    """
    outcome, ended = {"killed": 0}, threading.Event()

    def watch() -> None:
        if log.wait(requests, ended):
            time.sleep(delay_s)
            outcome["killed"] = act()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield outcome
    finally:
        ended.set()
        watcher.join()

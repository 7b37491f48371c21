"""One at a time on a node: a lock that the kernel gives back when its holder dies, however that happens."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from bootstrap.runtime.problem import RuntimeProblem
from bootstrap.runtime.tree import Beat

_LOOK_S = 0.5
_SAY_S = 15.0


@contextmanager
def exclusive(path: Path, wait_s: float, say: Callable[[str], None], beat: Beat) -> Generator[int]:
    """Hold the lock at `path`; gives its file descriptor. Raises RuntimeProblem after `wait_s`, or OSError.

    A child process that keeps the descriptor open keeps the lock: a command that we started and left behind
    by dying still writes, and nobody may begin anew beneath it.
    """
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _wait(lock, path, wait_s, say, beat)
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        yield lock
    finally:
        os.close(lock)


def taken(path: Path) -> bool:
    """Whether somebody holds the lock at this moment. Raises OSError."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        return not _try(lock)
    finally:
        os.close(lock)


def _wait(lock: int, path: Path, wait_s: float, say: Callable[[str], None], beat: Beat) -> None:
    began, said = time.monotonic(), float("-inf")
    while not _try(lock):
        waited = time.monotonic() - began
        holder = os.pread(lock, 32, 0).decode("ascii", "replace") or "unknown"
        if waited > wait_s:
            raise RuntimeProblem(
                f"the runtime's lock {path.name} within {wait_s:g} s",
                f"process {holder} or a child of its still at work",
                "see what it does; end it if it hangs",
            )
        if waited - said >= _SAY_S:
            said = waited
            say(f"waiting for process {holder}, which makes the same runtime")
        beat()
        time.sleep(_LOOK_S)


def _try(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

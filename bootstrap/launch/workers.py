"""The job's worker processes among all that a launch started, and signals to them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")


def workers(torchrun: int, pids: Iterable[int], proc: Path = PROC) -> list[int]:
    """torchrun's own children that have a rank, or those that were forked from the same server as it.

    What the workers start themselves, such as loaders of data, are their children and no workers.
    """
    server = parent(torchrun, proc)
    found = []
    for pid in pids:
        above = parent(pid, proc)
        mine = above == torchrun and _has_rank(proc / str(pid))
        if pid != torchrun and (mine or (above == server and _is_server(proc / str(server)))):
            found.append(pid)
    return sorted(found)


def terminate(pids: Iterable[int]) -> None:
    """SIGTERM: in a job that keeps the contract a drain, in one that hasn't begun the end."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def alive(pid: int, proc: Path = PROC) -> bool:
    """False also for what only waits to be reaped."""
    return (_stat(proc / str(pid)) or ["X"])[0] not in "ZX"


def parent(pid: int, proc: Path = PROC) -> int:
    """Its id; 0 for a process that is gone."""
    fields = _stat(proc / str(pid))
    return int(fields[1]) if len(fields) > 1 else 0


def _stat(folder: Path) -> list[str]:
    """State, parent and so on (proc(5))."""
    return _read(folder / "stat").rpartition(b")")[2].decode().split()


def _is_server(folder: Path) -> bool:
    return b"multiprocessing.forkserver" in _read(folder / "cmdline")


def _has_rank(folder: Path) -> bool:
    return b"\0LOCAL_RANK=" in b"\0" + _read(folder / "environ")


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""

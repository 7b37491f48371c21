"""The job's worker processes among all that a launch started."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def workers(pids: Iterable[int], proc: Path = Path("/proc")) -> list[int]:
    """Those that torchrun gave a rank; their own children inherit it, so only the topmost count.

    A forked worker's environment is that of the server it was forked from, so the parent tells there.
    """
    found = set(pids)
    parents = {pid: _parent(proc / str(pid)) for pid in found}
    servers = {pid for pid in found if _is_server(proc / str(pid))}
    ranked = {pid for pid in found if _has_rank(proc / str(pid))}
    return sorted(
        pid for pid in found if parents[pid] in servers or (pid in ranked and parents[pid] not in ranked)
    )


def terminate(pids: Iterable[int]) -> None:
    """SIGTERM: in a job that keeps the contract a drain, in one that hasn't begun the end."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def alive(pid: int, proc: Path = Path("/proc")) -> bool:
    """False also for what only waits to be reaped."""
    try:
        return (proc / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


def _parent(folder: Path) -> int:
    try:
        return int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def _is_server(folder: Path) -> bool:
    return b"multiprocessing.forkserver" in _read(folder / "cmdline")


def _has_rank(folder: Path) -> bool:
    return b"\0LOCAL_RANK=" in b"\0" + _read(folder / "environ")


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""

"""All processes of one launch, found and ended together however they were started.

A cgroup of version 2 where one can be made: killing it is one write, and it says when nobody is left.
Elsewhere the processes are known by a variable in their environment and by their parents.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

MARK = "NIGHTSHIFT_CAGE"
_ENTER = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
_TICK_S = 0.02


class Cage(Protocol):
    """`command` starts in it; `kill` returns the ids of what is still there after `limit_s`, none mostly."""

    def command(self, argv: list[str]) -> list[str]: ...

    def environment(self) -> dict[str, str]: ...

    def pids(self) -> list[int]: ...

    def kill(self, limit_s: float) -> list[int]: ...

    def cpu_s(self) -> float | None: ...


class CgroupCage:
    """One cgroup with all below it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def command(self, argv: list[str]) -> list[str]:
        """A process enters by itself before it becomes `argv`, so that nothing is ever outside."""
        return ["/bin/sh", "-c", _ENTER, str(self.path), *argv]

    def environment(self) -> dict[str, str]:
        return {}

    def pids(self) -> list[int]:
        found = []
        for file in (self.path / "cgroup.procs", *self.path.glob("**/cgroup.procs")):
            with suppress(OSError):
                found += [int(line) for line in file.read_text().split()]
        return sorted(set(found))

    def kill(self, limit_s: float) -> list[int]:
        """Until it can be taken away: what is forked elsewhere may only be on its way into it."""
        until = time.monotonic() + limit_s
        while self.path.exists():
            if self._populated():
                self._kill_once()
            else:
                self._remove()
            if self.path.exists():
                if time.monotonic() > until:
                    return self.pids()
                time.sleep(_TICK_S)
        return []

    def cpu_s(self) -> float | None:
        """CPU seconds that its processes have used."""
        try:
            pairs = (line.split() for line in (self.path / "cpu.stat").read_text().splitlines())
            return int(dict(pairs)["usage_usec"]) / 1e6
        except (OSError, KeyError, ValueError):
            return None

    def _populated(self) -> bool:
        try:
            return "populated 1" in (self.path / "cgroup.events").read_text()
        except OSError:
            return False

    def _kill_once(self) -> None:
        try:
            (self.path / "cgroup.kill").write_text("1")
        except OSError:  # before Linux 5.14
            for pid in self.pids():
                _kill(pid)

    def _remove(self) -> None:
        for folder in sorted(self.path.glob("**/"), reverse=True):
            with suppress(OSError):
                folder.rmdir()
        with suppress(OSError):
            self.path.rmdir()


class MarkedCage:
    """Processes whose environment bears a mark, and all their descendants."""

    def __init__(self, mark: str, proc: Path = Path("/proc")) -> None:
        self._mark = f"{MARK}={mark}".encode()
        self._proc = proc
        self.mark = mark

    def command(self, argv: list[str]) -> list[str]:
        return argv

    def environment(self) -> dict[str, str]:
        return {MARK: self.mark}

    def pids(self) -> list[int]:
        parents = {}
        marked = set()
        for folder in self._proc.iterdir():
            if not folder.name.isdigit() or int(folder.name) == os.getpid():
                continue
            told = _stat(folder)
            if told is None:
                continue
            parents[int(folder.name)] = told
            if self._is_marked(folder):
                marked.add(int(folder.name))
        return sorted(_with_descendants(marked, parents))

    def kill(self, limit_s: float) -> list[int]:
        """Again and again, since what is killed may have been starting others."""
        until = time.monotonic() + limit_s
        while pids := self.pids():
            for pid in pids:
                _kill(pid)
            if time.monotonic() > until:
                return pids
            time.sleep(_TICK_S)
        return []

    def cpu_s(self) -> float | None:
        return None

    def _is_marked(self, folder: Path) -> bool:
        try:
            pairs = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            return False
        return any(pair == self._mark or pair.startswith(self._mark + b"/") for pair in pairs)


def _with_descendants(found: set[int], parents: dict[int, int]) -> set[int]:
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found = found | more
    return found


def _stat(folder: Path) -> int | None:
    """The parent's id; None for what is gone or only waits to be reaped."""
    try:
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[1]) if fields and fields[0] not in "ZX" else None


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


class Cages:
    """Makes a cage for each launch, and knows all that earlier ones left."""

    def __init__(self, whole: Cage, make: Callable[[str], Cage]) -> None:
        self.whole = whole
        self._make = make
        self._made = 0

    def new(self) -> Cage:
        """An empty one."""
        self._made += 1
        return self._make(f"{os.getpid()}-{self._made}")


def cages(given: Path | None, job: Path) -> Cages:
    """Below `given`, or the agent's own cgroup; by marks where neither can be written."""
    root = given or own_cgroup()
    whole = root / f"job{str(job).replace('/', '-')}" if root else None
    if whole is not None and _can_make(whole):
        return Cages(CgroupCage(whole), lambda name: _made(whole / name))
    mark = str(job)
    return Cages(MarkedCage(mark), lambda name: MarkedCage(f"{mark}/{name}"))


def _made(path: Path) -> CgroupCage:
    path.mkdir(parents=True, exist_ok=True)
    return CgroupCage(path)


def _can_make(path: Path) -> bool:
    """A cgroup: a plain folder has no such files in it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    probe = path / "cgroup.procs"
    if probe.exists() and os.access(probe, os.W_OK):
        return True
    shutil.rmtree(path, ignore_errors=True)
    return False


def own_cgroup(proc: Path = Path("/proc/self")) -> Path | None:
    """This process's cgroup of version 2 as a folder, None where there is none."""
    try:
        own = next(line[3:] for line in (proc / "cgroup").read_text().splitlines() if line.startswith("0::"))
        lines = [line.split(" - ") for line in (proc / "mountinfo").read_text().splitlines()]
    except (OSError, StopIteration):
        return None
    points = [parts[0].split()[4] for parts in lines if parts[1].startswith("cgroup2 ")]
    return Path(points[0]) / own.lstrip("/") if points else None

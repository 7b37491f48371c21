"""Who keeps a mounted volume busy, by name, and how they're ended: asked, then killed after a budget."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from bootstrap.storage.mounts import parse_mounts
from bootstrap.storage.place import Place
from bootstrap.storage.waiting import wait_for


@dataclass(frozen=True)
class Holder:
    """A process and all the ways in which it holds the volume. `born` tells it from a later one of its id."""

    pid: int
    name: str
    born: str
    why: tuple[str, ...]

    @property
    def words(self) -> str:
        """For people."""
        return f"{self.name} (pid {self.pid}: {', '.join(self.why)})"


def scan(proc: Path, number: str, *, copies: bool = False) -> tuple[Holder, ...]:
    """Every process that holds the filesystem MAJOR:MINOR or the block device itself.

    With `copies` also those whose mount namespace has it mounted. Ask so only once it's unmounted here:
    before, services of systemd have it too, and lose it by propagation. Only this pid namespace can be
    seen; the kernel's own answer (O_EXCL) is the last word.
    """
    pids = sorted(int(each.name) for each in proc.iterdir() if each.name.isdigit())
    holders = (_holder(proc / str(pid), pid, number, copies) for pid in pids)
    return tuple(each for each in holders if each is not None)


def _holder(folder: Path, pid: int, number: str, copies: bool) -> Holder | None:
    why = tuple(dict.fromkeys(_reasons(folder, number, copies)))
    if not why:
        return None
    return Holder(pid, _read(folder / "comm").strip() or "?", _born(folder), why)


def _reasons(folder: Path, number: str, copies: bool) -> Iterator[str]:
    for link in ("cwd", "root", "exe"):
        if number in _devices(folder / link):
            yield link
    try:
        handles = sorted((folder / "fd").iterdir())
    except OSError:
        handles = []
    if any(number in _devices(each) for each in handles):
        yield "open file"
    if number in mapped(_read(folder / "maps")):
        yield "mapped file"
    if copies and any(each.number == number for each in parse_mounts(_read(folder / "mountinfo"))):
        yield "own mount namespace"


def _devices(path: Path) -> Collection[str]:
    """The filesystem that a file lies on, and the device that it is."""
    try:
        told = path.stat()
    except OSError:
        return ()
    return (_number(told.st_dev), _number(told.st_rdev))


def _number(device: int) -> str:
    return f"{os.major(device)}:{os.minor(device)}"


def mapped(maps: str) -> set[str]:
    """MAJOR:MINOR of every file in a /proc/PID/maps, whose numbers are hexadecimal."""
    found = re.findall(r"^\S+ \S+ \S+ ([0-9a-f]+):([0-9a-f]+) [1-9]", maps, re.MULTILINE)
    return {f"{int(major, 16)}:{int(minor, 16)}" for major, minor in found}


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _born(folder: Path) -> str:
    """Start time in clock ticks since boot, field 22 of stat (proc(5))."""
    fields = _read(folder / "stat").rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 else ""


def endable(holders: Collection[Holder]) -> tuple[Holder, ...]:
    """Never ourselves, never init."""
    return tuple(each for each in holders if each.pid not in (1, os.getpid()))


def end(
    look: Callable[[], tuple[Holder, ...]], proc: Path, place: Place, says: str
) -> tuple[tuple[Holder, ...], tuple[Holder, ...], float]:
    """SIGTERM, and SIGKILL after the budget. Gives who was ended, who is still there, and the seconds."""
    began = place.clock.now()
    met: dict[tuple[int, str], Holder] = {}
    left: tuple[Holder, ...] = ()
    for number, budget in ((signal.SIGTERM, place.waits.term_s), (signal.SIGKILL, place.waits.kill_s)):
        left = endable(look())
        met.update({(each.pid, each.born): each for each in left})
        for each in left:
            _signal(proc, each, number)
        gone, _ = wait_for(
            lambda: not endable(look()) or None, budget, says, place.clock, place.heartbeat, 0.05
        )
        left = () if gone else endable(look())
        if gone:
            break
    ended = tuple(
        each for each in met.values() if (each.pid, each.born) not in {(x.pid, x.born) for x in left}
    )
    return ended, left, place.clock.now() - began


def _signal(proc: Path, holder: Holder, number: signal.Signals) -> None:
    """By a handle on the process, so that a reused id is never hit."""
    try:
        handle = os.pidfd_open(holder.pid)
    except OSError:
        return
    try:
        if _born(proc / str(holder.pid)) == holder.born:
            signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return
    finally:
        os.close(handle)

"""Keeps packages as they are while a node serves: no timer upgrades them, and nobody is in the midst of it.

An upgrade that is running is waited for, never killed: dpkg cut short leaves a machine that can't install.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bootstrap.commands import Ran
from bootstrap.readiness.checks_packages import APT_UNITS, DNF_UNITS

Run = Callable[[list[str], float], Ran]
"""(command, seconds that it may take)."""
WAIT_S = 300.0
STOP_S = 60.0
_COMMAND_S = 30.0
_LOOK_S = 1.0
LOCKS = (
    "var/lib/dpkg/lock-frontend",
    "var/lib/dpkg/lock",
    "var/lib/apt/lists/lock",
    "var/cache/apt/archives/lock",
)
_FLOCK = struct.Struct("hhqqi4x")
"""Linux's struct flock on 64-bit machines: type, whence, start, length, process."""


@dataclass(frozen=True)
class Step:
    """One thing done; not `done`: `says` names what is in the way. `seconds` as measured."""

    name: str
    done: bool
    says: str
    seconds: float


@dataclass(frozen=True)
class Clock:
    """Seconds that only go forward, and waiting."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def hold_packages(
    run: Run,
    root: Path = Path("/"),
    heartbeat: Callable[[], None] = lambda: None,
    wait_s: float = WAIT_S,
    clock: Clock | None = None,
) -> tuple[Step, ...]:
    """Mask and stop what upgrades by itself, and wait for whoever holds dpkg. Nothing here ends a boot: the
    readiness check `packages.held` judges what came of it."""
    holding = _Holding(run, root, heartbeat, clock or Clock())
    if (root / "usr/bin/apt-get").exists():
        return holding.apt(wait_s)
    if (root / "usr/bin/dnf").exists():
        return holding.dnf()
    return (Step("packages", False, "neither apt-get nor dnf in /usr/bin: nothing is held", 0.0),)


class _Holding:
    def __init__(self, run: Run, root: Path, beat: Callable[[], None], clock: Clock) -> None:
        self._run, self._root, self._beat, self._clock = run, root, beat, clock

    def apt(self, wait_s: float) -> tuple[Step, ...]:
        """Mask first, so that nothing starts anew; `unattended-upgrades` stops by itself after a package."""
        timers, service = APT_UNITS[:2], APT_UNITS[2]
        return (
            self._call("mask", ["systemctl", "mask", *APT_UNITS]),
            self._call("stop timers", ["systemctl", "stop", *timers]),
            self._call("stop upgrades", ["systemctl", "stop", "--no-block", service]),
            self._until("dpkg free", wait_s, self._holder),
            self._until("upgrades stopped", STOP_S, lambda: self._running(service)),
        )

    def dnf(self) -> tuple[Step, ...]:
        """Amazon Linux's automatic upgrades; a unit that isn't installed is masked all the same."""
        return (
            self._call("mask", ["systemctl", "mask", *DNF_UNITS]),
            self._call("stop timers", ["systemctl", "stop", *DNF_UNITS]),
        )

    def _call(self, name: str, command: list[str]) -> Step:
        began = self._clock.now()
        ran = self._run(command, _COMMAND_S)
        says = ran.words if ran.code and not _not_loaded(ran) else ""
        return Step(name, not says, says or "done", round(self._clock.now() - began, 3))

    def _until(self, name: str, limit_s: float, in_the_way: Callable[[], str]) -> Step:
        """Wait until nothing is in the way, by its own deadline."""
        began = self._clock.now()
        while found := in_the_way():
            if self._clock.now() - began >= limit_s:
                says = f"after {limit_s:g} s still {found}"
                return Step(name, False, says, round(self._clock.now() - began, 3))
            self._beat()
            self._clock.sleep(_LOOK_S)
        return Step(name, True, "done", round(self._clock.now() - began, 3))

    def _holder(self) -> str:
        for name in LOCKS:
            process = lock_holder(self._root / name)
            if process is not None:
                return f"/{name} held by process {process} ({command_of(process)})"
        return ""

    def _running(self, unit: str) -> str:
        ran = self._run(["systemctl", "show", "--property=ActiveState", "--value", unit], _COMMAND_S)
        state = ran.out.strip()
        if ran.code or not state:
            return f"no answer about {unit}: {ran.words}"
        return "" if state in {"inactive", "failed"} else f"{unit} {state}"


def _not_loaded(ran: Ran) -> bool:
    """systemctl stop answers 5 for a unit that isn't installed."""
    return ran.code == 5 and "not loaded" in ran.err


def lock_holder(path: Path) -> int | None:
    """The process that holds a POSIX lock on a file, 0 for one of another PID namespace; None when it's free.

    Asked, not tried: a lock taken to look at it would be in an installer's way. Raises OSError.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, process = _FLOCK.unpack(fcntl.fcntl(file, fcntl.F_GETLK, asked))
    finally:
        os.close(file)
    return None if kind == fcntl.F_UNLCK else process


def command_of(process: int) -> str:
    """Its name, for people."""
    try:
        return Path(f"/proc/{process}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return "gone"

"""torchrun: its processes begun, told what to do by a pipe, watched, ended with everything they started."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bootstrap.launch.cage import Cage, CgroupCage
from bootstrap.launch.workers import workers

INSIDE = Path(__file__).parent / "inside" / "nightshift_torchrun.py"
Listen = Callable[[IO[bytes]], None]
"""Takes over reading what the processes print."""
GONE = -1
"""The exit code of a torchrun whose server is gone."""


@dataclass(frozen=True)
class Order:
    """One launch. It goes through a pipe: secrets are in no argument and no file."""

    arguments: list[str]
    environment: Mapping[str, str]
    folder: Path

    def line(self, number: int, cage: str) -> bytes:
        facts = {"arguments": self.arguments, "environment": dict(self.environment)}
        return (
            json.dumps({"number": number, "cage": cage, "folder": str(self.folder), **facts}).encode() + b"\n"
        )


class Torchrun:
    """One launch, with all that it started in its cage. `code`: torchrun's own, negative for a signal."""

    def __init__(self, cage: Cage, pid: Callable[[], int | None], code: Callable[[], int | None]) -> None:
        self.cage = cage
        self._pid = pid
        self._code = code

    @property
    def code(self) -> int | None:
        """None while it runs."""
        return self._code()

    def workers(self) -> list[int]:
        """Its worker processes, as far as they're started."""
        pid = self._pid()
        return workers(pid, self.cage.pids()) if pid is not None else []

    def end(self, limit_s: float) -> list[int]:
        """Kill all of it. The ids of what the kernel didn't let go of in time."""
        return self.cage.kill(limit_s)


def cold(python: Path, environment: Mapping[str, str], cage: Cage, listen: Listen, order: Order) -> Torchrun:
    """A torchrun that imports all by itself, and so do its workers."""
    process = _started(python, ["once"], environment, cage, listen)
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.write(order.line(0, ""))
        process.stdin.close()
    return Torchrun(cage, lambda: process.pid, process.poll)


def _started(
    python: Path,
    words: list[str],
    environment: Mapping[str, str],
    cage: Cage,
    listen: Listen,
    status: int | None = None,
) -> subprocess.Popen[bytes]:
    command = cage.command([str(python), str(INSIDE), *words])
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**environment, **cage.environment()},
        cwd="/",
        start_new_session=True,
        pass_fds=() if status is None else (status,),
    )
    assert process.stdout is not None
    listen(process.stdout)
    return process


class Server:
    """Imports torch once; every launch is forked from it. All in it dies with this process.

    `warm`: the imports are done.
    """

    def __init__(
        self, python: Path, environment: Mapping[str, str], whole: CgroupCage, cage: Cage, listen: Listen
    ) -> None:
        self._codes: dict[int, int] = {}
        self._pids: dict[int, int] = {}
        self.warm = False
        self._begun = 0
        reading, writing = os.pipe()
        words = ["serve", str(whole.path), str(writing)]
        self._process = _started(python, words, environment, cage, listen, writing)
        os.close(writing)
        threading.Thread(
            target=self._listen, args=(reading,), name="nightshift-torchrun", daemon=True
        ).start()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def begin(self, cage: CgroupCage, order: Order) -> Torchrun:
        """A dead server shows in the launch's code."""
        self._begun += 1
        number = self._begun
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(order.line(number, str(cage.path)))
            self._process.stdin.flush()
        return Torchrun(cage, lambda: self._pids.get(number), lambda: self._code(number))

    def _code(self, number: int) -> int | None:
        code = self._codes.get(number)
        return code if code is not None or self.alive else GONE

    def _listen(self, reading: int) -> None:
        with os.fdopen(reading, "r", encoding="ascii") as lines:
            for line in lines:
                number, what, value = line.split()
                if what == "warm":
                    self.warm = True
                else:
                    told = self._codes if what == "code" else self._pids
                    told[int(number)] = int(value)

    def close(self) -> None:
        """Reap it, once its cage was killed."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)

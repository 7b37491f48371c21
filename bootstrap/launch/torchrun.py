"""One torchrun: started ahead of time, told to go, watched, ended with everything it started."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from bootstrap.launch.cage import Cage

INSIDE = Path(__file__).parent / "inside" / "nightshift_torchrun.py"
Listen = Callable[[IO[bytes]], None]
"""Takes over reading what the processes print."""


class Torchrun:
    """Imports torch at once and waits for `go`. All that it starts lives in its cage."""

    def __init__(
        self,
        python: Path,
        environment: Mapping[str, str],
        cage: Cage,
        listen: Listen,
        *,
        warm: bool,
        script: Path = INSIDE,
    ) -> None:
        self.cage = cage
        self.warm = warm
        argv = [str(python), str(script), *(["warm"] if warm else [])]
        self._process = subprocess.Popen(
            cage.command(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**environment, **cage.environment()},
            cwd="/",
            start_new_session=True,
        )
        assert self._process.stdout is not None
        listen(self._process.stdout)

    def go(self, arguments: list[str], environment: Mapping[str, str], folder: Path) -> None:
        """By a pipe: secrets are in no argument and no file. A process that has died shows in `code`."""
        order = {"arguments": arguments, "environment": dict(environment), "folder": str(folder)}
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(order).encode())
            self._process.stdin.close()

    @property
    def code(self) -> int | None:
        """torchrun's exit code, negative for a signal; None while it runs."""
        return self._process.poll()

    @property
    def pid(self) -> int:
        return self._process.pid

    def end(self, limit_s: float) -> list[int]:
        """Kill all of it. The ids of what the kernel didn't let go of in time."""
        left = self.cage.kill(limit_s)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0 if left else 5)
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        return left

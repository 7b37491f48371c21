"""Runs a long command with a deadline and a heartbeat, and never leaves it behind."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bootstrap.commands import MISSING, TIMED_OUT, Ran
from bootstrap.runtime.tree import Beat

_LOOK_S = 0.2
_TAIL = 64 << 10


@dataclass(frozen=True)
class Surroundings:
    """What commands run in. `held` are descriptors that they keep open: locks that outlive us with them."""

    environment: Mapping[str, str]
    folder: str
    held: tuple[int, ...] = ()


def run_watched(command: Sequence[str], around: Surroundings, limit_s: float, beat: Beat) -> Ran:
    """Run it; `beat` five times a second. Killed with its own after `limit_s`, or when `beat` raises."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**around.environment, "LC_ALL": "C"},
                cwd=around.folder,
                pass_fds=around.held,
                start_new_session=True,
            )
        except OSError as error:
            return Ran(MISSING, "", f"{command[0]}: {error.strerror}", time.monotonic() - began)
        code = _watch(process, began + limit_s, beat)
        seconds = time.monotonic() - began
        if code is None:
            return Ran(TIMED_OUT, "", f"{command[0]}: not done after {limit_s:g} s", seconds)
        return Ran(code, _tail(out.fileno()), _tail(err.fileno()), seconds)


def _watch(process: subprocess.Popen[bytes], deadline: float, beat: Beat) -> int | None:
    try:
        while time.monotonic() < deadline:
            try:
                return process.wait(_LOOK_S)
            except subprocess.TimeoutExpired:
                beat()
        return None
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _tail(file: int) -> str:
    size = os.fstat(file).st_size
    return os.pread(file, _TAIL, max(0, size - _TAIL)).decode("utf-8", "replace")

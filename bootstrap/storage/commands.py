"""Runs a command with a deadline. What it printed and how it ended is a value, never an exception."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass

MISSING = 127
"""The exit code that shells give for a command that isn't there."""
TIMED_OUT = 124
_REAP_S = 5.0


@dataclass(frozen=True)
class Ran:
    """How a command ended. `code` is MISSING or TIMED_OUT where it gave none itself."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def words(self) -> str:
        """Its last lines in one, for people."""
        lines = [line.strip() for line in (self.err or self.out).splitlines() if line.strip()]
        return f"exit code {self.code}: {' / '.join(lines[-3:]) or 'no output'}"


def run(command: list[str], limit_s: float) -> Ran:
    """Run it without a terminal, in the C locale. Killed after `limit_s`; one that the kernel holds on to
    is left behind after 5 s more."""
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C"},
            cwd="/",
        )
    except OSError as error:
        return Ran(MISSING, "", f"{command[0]}: {error.strerror}", time.monotonic() - began)
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        return _ended(process, command[0], limit_s, began)
    return Ran(process.returncode, _text(out), _text(err), time.monotonic() - began)


def _ended(process: subprocess.Popen[bytes], name: str, limit_s: float, began: float) -> Ran:
    process.kill()
    says = f"{name}: not done after {limit_s:g} s"
    try:
        process.communicate(timeout=_REAP_S)
    except subprocess.TimeoutExpired:
        says += ", and the kernel holds on to it"
    return Ran(TIMED_OUT, "", says, time.monotonic() - began)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")

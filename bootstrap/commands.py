"""Runs a command with a deadline. What it printed and how it ended is a value, never an exception."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from bootstrap.process import to_its_end

MISSING = 127
"""The exit code that shells give for a command that isn't there."""
TIMED_OUT = 124


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
    """Run it without a terminal, in the C locale. Killed with all that it began after `limit_s`; what the
    kernel holds on to is left behind after a few seconds more."""
    began = time.monotonic()
    try:
        ended = to_its_end(command, limit_s, {**os.environ, "LC_ALL": "C"}, "/")
    except OSError as error:
        return Ran(MISSING, "", f"{command[0]}: {error.strerror}", time.monotonic() - began)
    seconds = time.monotonic() - began
    if ended.code is None:
        held = ", and the kernel holds on to it" if ended.held else ""
        return Ran(TIMED_OUT, "", f"{command[0]}: not done after {limit_s:g} s{held}", seconds)
    return Ran(ended.code, ended.out, ended.err, seconds)

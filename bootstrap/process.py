"""One process to its end or its deadline, in a session of its own, so that nothing of it outlives either."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_GRACE_S = 5.0
"""A killed one's output is waited for this long; one that the kernel holds on to never gives it."""


@dataclass(frozen=True)
class Ended:
    """`code` None: killed at the deadline. `held`: the kernel holds on to it even so, its output is lost."""

    code: int | None
    out: str
    err: str
    held: bool = False


def to_its_end(command: Sequence[str], limit_s: float, environment: Mapping[str, str], folder: str) -> Ended:
    """Run without a terminal. Bytes that aren't UTF-8 come as U+FFFD. Raises OSError when it can't start."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environment),
        cwd=folder,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        return _killed(process)
    return Ended(process.returncode, _text(out), _text(err))


def _killed(process: subprocess.Popen[bytes]) -> Ended:
    os.killpg(process.pid, signal.SIGKILL)
    try:
        out, err = process.communicate(timeout=_GRACE_S)
    except subprocess.TimeoutExpired:
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        return Ended(None, "", "", held=True)
    return Ended(None, _text(out), _text(err))


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", errors="replace")

"""End a process with everything that it has started."""

import contextlib
import os
import signal
import subprocess
from pathlib import Path


def end_tree(process: subprocess.Popen[str]) -> None:
    """Kill the process, then what it had started, children's children too (Linux; elsewhere it alone)."""
    below = _below(process.pid) if process.poll() is None else []
    process.kill()
    for pid in below:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def _below(pid: int) -> list[int]:
    found = []
    for told in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(child) for child in told.read_text(encoding="ascii").split()]
    return [one for child in found for one in (child, *_below(child))]

"""Run a program that dies with the process that started it: `python lifeline.py PROGRAM [ARGUMENT...]`.

It stands alone, standard library only: it also runs as a wrapper in front of other programs' children.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

_PR_SET_PDEATHSIG = 1


def bound(command: Sequence[str]) -> list[str]:
    """The command that runs `command` bound to its parent's life (Linux; elsewhere the command itself)."""
    if sys.platform != "linux":
        return list(command)
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve()), *command]


def wrapper_script(program: Path) -> str:
    """A shell script that runs `program` bound to whoever starts the script, with the same arguments."""
    return f'#!/bin/sh\nexec {words([str(program)])} "$@"\n'


def words(command: Sequence[str]) -> str:
    """The bound command as a shell has it."""
    return " ".join(_quoted(word) for word in bound(command))


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _main(command: list[str]) -> None:
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)
    os.execvp(command[0], command)


if __name__ == "__main__":
    _main(sys.argv[1:])

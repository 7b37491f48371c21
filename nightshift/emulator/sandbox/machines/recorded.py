"""A recorded machine put into a node's image: its files in a folder of their own, its programs on PATH."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bootstrap.lifecycle.idle import COMMAND as BUSY
from bootstrap.readiness.checks_fabric import UNIT
from bootstrap.readiness.commands import Answer, Command, unmarked
from nightshift.emulator.sandbox.image import INSIDE, Image
from nightshift.emulator.sandbox.machines.answers import answers, files
from nightshift.emulator.sandbox.machines.description import PYTHON, Machine

FOLDER = "/opt/recorded"
ROOT, TABLE = f"{FOLDER}/root", f"{FOLDER}/table.json"
_PATH = "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_HERE = "/usr/local/sbin"
Rows = dict[str, list[tuple[list[str], list[dict[str, Any]]]]]


def equip(image: Image, machine: Machine, busy_percent: int = 90) -> None:
    """The image is this machine's from now on: what readiness reads, its programs say.

    torch runs for real on the CPU; only the probe's own questions have recorded answers. `busy_percent`: how
    busy nvidia-smi says every card is.
    """
    rows = table(machine, busy_percent)
    image.files[TABLE] = json.dumps(rows)
    for name, text in {**files(machine), **machine.files}.items():
        if text is not None:
            image.files[f"{ROOT}{name}"] = text
    for name in rows:
        image.programs[name if name.startswith("/") else f"{_HERE}/{name}"] = _program(name)
    if machine.switched:
        image.units[UNIT] = "active"
    image.environment |= {"NIGHTSHIFT_MACHINE": ROOT, "NIGHTSHIFT_RUNTIME_PYTHON": PYTHON}


def table(machine: Machine, busy_percent: int = 90) -> Rows:
    """The machine's answers by program."""
    rows: Rows = {}
    busy = Answer(0, f"{busy_percent}\n" * machine.cards)
    for command, given in {BUSY: busy, **answers(machine)}.items():
        if command[0] == "systemctl" and command not in machine.changed:
            continue
        several = [given] if isinstance(given, Answer) else list(given)
        name, arguments, told = _told(command, several)
        rows.setdefault(name, []).append((arguments, told))
    return rows


def _told(command: Command, given: list[Answer]) -> tuple[str, list[str], list[dict[str, Any]]]:
    """What the program itself says, without the shell that marks the end of a listing."""
    wrapped = command[:2] == ("sh", "-c")
    name, *arguments = command[4:] if wrapped else command
    known = ["probe.py" if each.endswith("/probe.py") else each for each in arguments]
    return name, known, list(_bare(given, wrapped))


def _bare(given: list[Answer], wrapped: bool) -> Iterator[dict[str, Any]]:
    for answer in given:
        text = unmarked(answer.stdout) if wrapped else answer.stdout
        rc = answer.rc if text is not None else answer.rc or 1
        out = answer.stdout if text is None else text
        yield {"rc": rc, "out": out, "err": answer.stderr, "late": answer.late}


def _program(name: str) -> str:
    """A shell script that asks the table, and the program of this machine for the rest."""
    otherwise = sys.executable if name == PYTHON else _own(name)
    words = [sys.executable, "-S", "-E", str(INSIDE / "recorded.py"), TABLE, name, otherwise]
    return f'#!/bin/sh\nexec {" ".join(words)} "$@"\n'


def _own(name: str) -> str:
    if name == "systemctl":
        return f"{_HERE}/systemctl.manager"
    return shutil.which(name, path=_PATH) or "-" if "/" not in name else "-"


def python_of(image: Image) -> Path:
    """The runtime's interpreter in this image."""
    return Path(image.environment.get("NIGHTSHIFT_RUNTIME_PYTHON", sys.executable))

"""Nodes for people on the ground of the drains' tests: their agent, their logins, their notebooks."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from nightshift.emulator.sandbox.node import Node
from nightshift.records.notebook import Notebook, NotebookRecord
from tests.bootstrap.drain.support.declared import TYPE, ZONE
from tests.bootstrap.drain.support.ground import ROOT, GaveUp, Ground, Life, until

HERE = Path(__file__).parent
PYTHON = Path(sys.executable)
ACCOUNTS = ("passwd", "group", "shadow", "gshadow", "subuid", "subgid")
NOTEBOOK_S = 180.0
"""Until a notebook answers, on a busy machine."""


def accounts_of_this_machine() -> dict[str, str]:
    """sha256 of each file that a login would change."""
    files = [Path("/etc") / name for name in ACCOUNTS]
    return {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in files if each.exists()}


def open_to_people(node: Node) -> None:
    """The interpreter may lie in a folder that only root can enter; on a node's image it doesn't."""
    for folder in Path(sys.executable).resolve().parents:
        if not folder.stat().st_mode & 0o001:
            node.run(["chmod", "o+x", str(folder)])


def launch(ground: Ground, python: Path = PYTHON, **edges: str) -> Life:
    """The group launches a node for people; its agent runs."""
    known = {each["InstanceId"] for each in ground.members()}
    ground.resize(1)
    fresh = [each["InstanceId"] for each in ground.members() if each["InstanceId"] not in known]
    node = ground.net.node(fresh[0], zone=ZONE, type=TYPE)
    open_to_people(node)
    return start(ground, node, python, **edges)


def start(ground: Ground, node: Node, python: Path = PYTHON, **edges: str) -> Life:
    """Its agent, first or again."""
    log = ground.folder / f"{node.id}-{len(ground.lives)}.log"
    environment = {
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "NIGHTSHIFT_RUNTIME_PYTHON": str(python),
        "NIGHTSHIFT_POLL_S": "1",
        "NO_PROXY": "*",
        **edges,
    }
    command = [sys.executable, str(HERE / "entry.py"), str(ground.folder / "node.json")]
    with log.open("wb") as out:
        process = node.popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
    life = Life(ground, node, process, log, time.monotonic())
    ground.lives.append(life)
    return life


def record(life: Life) -> NotebookRecord | None:
    """What the node tells operators of its notebooks."""
    told = life.ground.record(life.node, "notebook.json")
    return None if told is None else NotebookRecord.load("notebook.json", json.dumps(told).encode())


def told(life: Life, user: str) -> Notebook:
    """How that user's notebook is reached, once operators can know."""

    def found() -> Notebook | None:
        if life.process.poll() is not None:
            raise GaveUp(f"the agent ended with {life.process.returncode}: {life.words[-3000:]}")
        known = record(life)
        return known.of(user) if known is not None else None

    return until(f"the record of {user}'s notebook", found, NOTEBOOK_S, 0.2)


def asks(life: Life, notebook: Notebook, token: str | None = None, **more: str) -> dict[str, Any]:
    """What the notebook answers, asked from inside the node."""
    given = json.dumps({"token": notebook.token if token is None else token, **more})
    words = [str(PYTHON), str(HERE / "client.py"), str(notebook.port)]
    done = life.node.run(words, input=given, timeout=NOTEBOOK_S, check=False)
    if done.returncode:
        raise GaveUp(f"{done.stderr[-2000:]}; the agent said: {life.words[-3000:]}")
    return json.loads(done.stdout)


def opens(life: Life, user: str) -> Notebook:
    """That user's notebook, once it answers to its token."""
    notebook = told(life, user)

    def answers() -> bool:
        if "given up" in life.words:
            raise GaveUp(life.words[-3000:])
        return asks(life, notebook)["status"] == 200

    until(f"{user}'s notebook answers", answers, NOTEBOOK_S, 0.3)
    return notebook


def processes(life: Life, word: str) -> dict[int, str]:
    """Ids, as this machine has them, and command lines of the node's processes that have the word in one."""
    group = life.node.group
    assert group is not None, "needs control groups of version 2"
    found = {}
    for file in (group / "cgroup.procs", *group.glob("**/cgroup.procs")):
        for pid in file.read_text().split():
            try:
                line = (Path("/proc") / pid / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if word in line:
                found[int(pid)] = line
    return found


def owner(pid: int) -> int:
    """By which number a process runs."""
    return os.stat(f"/proc/{pid}").st_uid  # noqa: PTH116

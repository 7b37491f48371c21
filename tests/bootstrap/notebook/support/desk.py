"""Nodes for people on the ground of the drains' tests: their agent, their logins, their notebooks."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
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


def launch(
    ground: Ground, python: Path | None = None, arrange: Callable[[Node], object] = lambda _node: None
) -> Life:
    """The group launches a node for people, which `arrange` changes; its agent runs."""
    known = {each["InstanceId"] for each in ground.members()}
    ground.resize(1)
    fresh = [each["InstanceId"] for each in ground.members() if each["InstanceId"] not in known]
    node = ground.net.node(fresh[0], zone=ZONE, type=TYPE)
    open_to_people(node)
    arrange(node)
    return start(ground, node, python)


def start(ground: Ground, node: Node, python: Path | None = None) -> Life:
    """Its agent, first or again."""
    log = ground.folder / f"{node.id}-{len(ground.lives)}.log"
    environment = {
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "NIGHTSHIFT_RUNTIME_PYTHON": str(python or PYTHON),
        "NIGHTSHIFT_POLL_S": "1",
        "NO_PROXY": "*",
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


def answer(node: Node, notebook: Notebook, token: str | None = None, **more: str) -> dict[str, Any]:
    """What the notebook answers, asked from inside the node. Raises GaveUp."""
    given = json.dumps({"token": notebook.token if token is None else token, **more})
    words = [str(PYTHON), str(HERE / "client.py"), str(notebook.port)]
    done = node.run(words, input=given, timeout=NOTEBOOK_S, check=False)
    if done.returncode:
        raise GaveUp(done.stderr[-2000:])
    return json.loads(done.stdout)


def asks(life: Life, notebook: Notebook, token: str | None = None, **more: str) -> dict[str, Any]:
    """The same, with the agent's last words where it gives up."""
    try:
        return answer(life.node, notebook, token, **more)
    except GaveUp as error:
        raise GaveUp(f"{error}; the agent said: {life.words[-3000:]}") from None


def opens(life: Life, user: str) -> Notebook:
    """That user's notebook, once it answers to its token."""
    notebook = told(life, user)

    def answers() -> bool:
        if "given up" in life.words:
            raise GaveUp(life.words[-3000:])
        return asks(life, notebook)["status"] == 200

    until(f"{user}'s notebook answers", answers, NOTEBOOK_S, 0.3)
    return notebook


def end(life: Life) -> None:
    """The group ends the node; it's gone then."""
    life.ground.resize(0)
    life.node.imds.target_lifecycle_state = "Terminated"
    life.end()


def processes_of(node: Node) -> dict[int, str]:
    """Ids, as this machine has them, and command lines of all that runs in a node."""
    group = node.group
    assert group is not None, "needs control groups of version 2"
    found = {}
    for file in (group / "cgroup.procs", *group.glob("**/cgroup.procs")):
        for pid in file.read_text().split():
            with suppress(OSError):
                found[int(pid)] = (Path("/proc") / pid / "cmdline").read_text().replace("\0", " ")
    return found


def processes(life: Life, word: str) -> dict[int, str]:
    """Those that have the word in their command line."""
    return {pid: line for pid, line in processes_of(life.node).items() if word in line}


def environments_of(node: Node) -> str:
    """What all processes of the node have as arguments and environment, together."""
    found = []
    for pid, line in processes_of(node).items():
        with suppress(OSError):
            found.append(line + Path(f"/proc/{pid}/environ").read_text(errors="replace"))
    return "".join(found)


def owner(pid: int) -> int:
    """By which number a process runs."""
    return Path(f"/proc/{pid}").stat().st_uid

"""Nodes of one group in namespaces, a real agent's job on each, and ways to hurt them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import boto3

from bootstrap.launch.workers import parent
from nightshift.emulator.cloud.process import Cloud, start_cloud
from nightshift.emulator.sandbox.network import Network
from nightshift.emulator.sandbox.node import Node
from tests.bootstrap.launch.support.node import Wanted

REPO = Path(__file__).resolve().parents[4]
JOB = Path(__file__).with_name("job.py")
T = TypeVar("T")


class Hung(AssertionError):
    """Something that must happen didn't in time."""


class Step:
    """One line of a job's steps: unix seconds, number, world size, the process."""

    def __init__(self, line: str) -> None:
        at, number, world, pid = line.split()
        self.at, self.number, self.world, self.pid = float(at), int(number), int(world), int(pid)


class Steps:
    """A file of steps that grows; each line is read once."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._at = 0
        self._known: list[Step] = []

    def read(self) -> list[Step]:
        """All so far, whole lines only."""
        with suppress(FileNotFoundError), self.file.open("rb") as stream:
            stream.seek(self._at)
            whole = stream.read().rpartition(b"\n")[0]
            if whole:
                self._at += len(whole) + 1
                self._known += [Step(line) for line in whole.decode("ascii").splitlines()]
        return self._known


def within(seconds: float, look: Callable[[], T | None], what: str) -> T:
    """The first answer that isn't None. Raises Hung."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        answer = look()
        if answer is not None:
            return answer
        time.sleep(0.1)
    raise Hung(f"{what}: not within {seconds:g} s")


class Agent:
    """One start of a node's agent: its process and what it told."""

    def __init__(self, process: subprocess.Popen[str], wanted: Wanted) -> None:
        self.process = process
        self.told: list[dict[str, Any]] = []
        assert process.stdin is not None
        process.stdin.write(json.dumps(asdict(wanted)) + "\n")
        process.stdin.close()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def ended(self) -> dict[str, Any] | None:
        """How the job ended here."""
        return next((each["ended"] for each in self.told if "ended" in each), None)

    def says(self, words: str) -> float | None:
        """When it first said something with these words in it (unix s)."""
        return next((each["at"] for each in self.told if words in str(each.get("says"))), None)

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                with suppress(ValueError):
                    self.told.append(json.loads(line))

    def close(self) -> None:
        """After its node is down: read what is left."""
        self.process.wait(10)
        self._listener.join(10)


class Place:
    """A node and its own folder; the agent there, when one was started."""

    def __init__(self, node: Node, root: Path, make: Callable[[Place], Wanted]) -> None:
        self.node, self.root = node, root
        self._make = make
        self.agent: Agent | None = None
        self._agents: list[Agent] = []
        self._steps = Steps(root / "steps")
        root.mkdir(parents=True, exist_ok=True)

    @property
    def steps_file(self) -> Path:
        return self._steps.file

    def steps(self) -> list[Step]:
        """Of every process that ever trained here."""
        return self._steps.read()

    def start(self) -> Agent:
        """Its agent, first or again."""
        with (self.root / "agent.err").open("ab") as errors:
            process = self.node.popen(
                [sys.executable, "-m", "tests.bootstrap.launch.support.node"],
                env={"PYTHONPATH": str(REPO), "HOME": str(self.root)},
                cwd=REPO,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self.agent = Agent(process, self._make(self))
        self._agents.append(self.agent)
        return self.agent

    def pids(self) -> list[int]:
        """Everything of the job on this node, as ids of this machine."""
        group = self.node.group
        assert group is not None
        found = []
        for file in group.glob("job*/**/cgroup.procs"):
            with suppress(OSError):
                found += [int(word) for word in file.read_text().split()]
        return sorted(set(found))

    def workers(self) -> list[int]:
        """The job's worker processes."""
        return self._gang()[1:]

    def torchruns(self) -> list[int]:
        """The torchrun that has workers now."""
        return self._gang()[:1]

    def _gang(self) -> list[int]:
        """torchrun and its workers: all forked from one server, torchrun first."""
        group = self.node.group
        assert group is not None
        for file in group.glob("job*/*/cgroup.procs"):
            with suppress(OSError):
                pids = sorted(int(word) for word in file.read_text().split())
                forked = [pid for pid in pids if b"multiprocessing.forkserver" in _cmdline(parent(pid))]
                if len(forked) > 1 and parent(forked[0]) not in pids:
                    return forked
        return []

    def crash(self) -> None:
        """The whole node, at once."""
        self.node.kill()

    def close(self) -> None:
        """Nothing runs on it any more."""
        self.node.kill()
        for agent in self._agents:
            agent.close()

    def boot(self) -> Agent:
        """After a crash: the disk as it was, /run new."""
        shutil.rmtree(self.root / "run", ignore_errors=True)
        self.node.start()
        return self.start()


def _cmdline(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


class Cluster:
    """`places` by number; one group, one run."""

    def __init__(self, net: Network, cloud: Cloud, root: Path, nodes: int, **given: Any) -> None:
        self.cloud, self.root, self._nodes = cloud, root, nodes
        self._environment = given.pop("environment", {})
        self._waits = given.pop("waits", {})
        source = root / "source"
        source.mkdir(parents=True)
        shutil.copy(JOB, source / "train.py")
        self.source = source
        self.places = [
            Place(net.node(f"i-{number:017x}"), root / f"node{number}", self._wanted)
            for number in range(nodes)
        ]

    def _wanted(self, place: Place) -> Wanted:
        return Wanted(
            root=str(place.root),
            instance=place.node.id,
            ip=place.node.ip,
            nodes=self._nodes,
            repo=str(self.source),
            python=sys.executable,
            endpoint=self.cloud.endpoint if self._nodes > 1 else "",
            environment={
                "PYTHONPATH": str(REPO),
                "STEPS_FILE": str(place.steps_file),
                "OMP_NUM_THREADS": "1",
                **self._environment,
            },
            waits=self._waits,
        )

    def start(self) -> None:
        """All agents."""
        for place in self.places:
            place.start()

    def lease(self) -> dict[str, Any]:
        """As it stands on the board."""
        body = client(self.cloud).get_object(Bucket="data", Key="groups/vit/leader.json")["Body"].read()
        return json.loads(body)

    def leader(self) -> Place:
        """Who leads now."""
        name = self.lease()["leader"]
        return next(place for place in self.places if place.node.id == name)

    def known(self) -> set[tuple[int, int]]:
        """Every process that has trained so far."""
        return {(number, step.pid) for number, place in enumerate(self.places) for step in place.steps()}

    def new_gang(self, before: set[tuple[int, int]], world: int, limit_s: float, since: float = 0.0) -> Step:
        """The first step of processes that hadn't trained before, in a world of this size. Raises Hung."""

        def look() -> Step | None:
            fresh = [
                step
                for number, place in enumerate(self.places)
                for step in place.steps()
                if (number, step.pid) not in before and step.world == world and step.at > since
            ]
            return min(fresh, key=lambda step: step.at, default=None)

        return within(limit_s, look, f"a first step in a world of {world}")


def client(cloud: Cloud) -> Any:
    """S3 of the emulated AWS."""
    return boto3.client(
        "s3",
        endpoint_url=cloud.endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


@contextmanager
def cluster(root: Path, nodes: int, **given: Any) -> Generator[Cluster]:
    """A cluster with nothing started. Everything is gone after it."""
    with start_cloud(plain=True) as cloud:
        client(cloud).create_bucket(Bucket="data")
        with Network(share=(root,), cloud=cloud.endpoint, follow=False) as net:
            made = Cluster(net, cloud, root, nodes, **given)
            try:
                yield made
            finally:
                for place in made.places:
                    place.close()


def kill(pid: int) -> None:
    """SIGKILL, now."""
    os.kill(pid, signal.SIGKILL)

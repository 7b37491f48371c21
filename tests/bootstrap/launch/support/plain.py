"""torchrun as it comes, in a loop on each of two nodes: what one has without a launcher."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from nightshift.emulator.sandbox.network import Network
from nightshift.emulator.sandbox.node import Node
from tests.bootstrap.launch.support.cluster import JOB, REPO, Step, Steps, within

BEST = (
    "--nnodes=1:2",
    "--rdzv-conf=join_timeout=60,last_call_timeout=2,read_timeout=20,keep_alive_interval=2,"
    "keep_alive_max_attempt=3,is_host={hosts}",
    "--local-addr={address}",
)
"""Elastic, with each cure that is known: see also TORCH_DISABLE_SHARE_RDZV_TCP_STORE and the timeouts."""
DEFAULT = ("--nnodes=2",)
COMMON = (
    "--nproc-per-node=1 --rdzv-backend=c10d --rdzv-endpoint={host}:29400 --rdzv-id=vit --max-restarts=100"
)


class PlainNode:
    """A node with a loop that starts torchrun again, a second after it ended."""

    def __init__(self, node: Node, root: Path, host: str, best: bool) -> None:
        self.node, self.root, self._host, self._best = node, root, host, best
        self._loop: subprocess.Popen[bytes] | None = None
        self._steps = Steps(root / "steps")
        root.mkdir(parents=True)

    def steps(self) -> list[Step]:
        """Of every process that ever trained here."""
        return self._steps.read()

    def start(self) -> None:
        """The loop; after a crash the node first."""
        self.node.start()
        words = " ".join([COMMON, *(BEST if self._best else DEFAULT)])
        hosts = int(self.node.ip == self._host)
        words = words.format(host=self._host, hosts=hosts, address=self.node.ip)
        command = f"{shlex.quote(sys.executable)} -m torch.distributed.run {words} {shlex.quote(str(JOB))}"
        with (self.root / "job.log").open("ab") as log:
            self._loop = self.node.popen(
                ["/bin/sh", "-c", f"while :; do {command}; sleep 1; done"],
                env=self._environment(),
                cwd=self.root,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def _environment(self) -> Mapping[str, str]:
        known = {
            "PYTHONPATH": str(REPO),
            "HOME": str(self.root),
            "OMP_NUM_THREADS": "1",
            "STEPS_FILE": str(self.root / "steps"),
            "NIGHTSHIFT_CHECKPOINTS": str(self.root / "checkpoints"),
            "GLOO_SOCKET_IFNAME": "eth0",
        }
        if not self._best:
            return {**known, "GROUP_TIMEOUT_S": "1800"}
        return {
            **known,
            "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
            "TORCH_ELASTIC_SHUTDOWN_TIMEOUT": "10",
            "GROUP_TIMEOUT_S": "15",
        }

    def crash(self) -> None:
        """The whole node, at once."""
        self.node.kill()

    def workers(self) -> list[int]:
        """Processes with a rank."""
        return [pid for pid in self._pids() if b"\0LOCAL_RANK=" in b"\0" + _read(pid, "environ")]

    def torchruns(self) -> list[int]:
        """torchrun itself."""
        return [pid for pid in self._pids() if b"torch.distributed.run\0" in _read(pid, "cmdline")]

    def _pids(self) -> list[int]:
        group = self.node.group
        assert group is not None
        found = []
        for file in group.glob("**/cgroup.procs"):
            with suppress(OSError):
                found += [int(word) for word in file.read_text().split()]
        return [pid for pid in sorted(found) if not _read(pid, "cmdline").startswith(b"/bin/sh\0")]


def _read(pid: int, what: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{what}").read_bytes()
    except OSError:
        return b""


class PlainPair:
    """Two of them; the first is the rendezvous' host, for good."""

    def __init__(self, net: Network, root: Path, best: bool) -> None:
        nodes = [net.node(f"i-{number:017x}") for number in (1, 2)]
        self.places = [PlainNode(node, root / node.id, nodes[0].ip, best) for node in nodes]

    def known(self) -> set[tuple[int, int]]:
        """Every process that has trained so far."""
        return {(number, step.pid) for number, place in enumerate(self.places) for step in place.steps()}

    def new_gang(self, before: set[tuple[int, int]], limit_s: float, world: int = 0) -> Step:
        """The first step of processes that hadn't trained before (in a world of this size). Raises Hung."""

        def look() -> Step | None:
            fresh = [
                step
                for number, place in enumerate(self.places)
                for step in place.steps()
                if (number, step.pid) not in before and world in (0, step.world)
            ]
            return min(fresh, key=lambda step: step.at, default=None)

        return within(limit_s, look, "a first step")

    def whole(self, limit_s: float) -> None:
        """Until both train together. Raises Hung."""
        since = time.time()

        def look() -> bool | None:
            last = [place.steps()[-1] for place in self.places if place.steps()]
            now = time.time()
            fine = len(last) == 2 and all(step.world == 2 and now - step.at < 1.0 for step in last)
            return fine or None

        within(limit_s, look, f"both together since {since:.0f}")

    def again(self) -> None:
        """Both nodes down and up again: nothing of before is left."""
        for place in self.places:
            place.crash()
        for place in self.places:
            place.start()


@contextmanager
def plain_pair(root: Path, *, best: bool) -> Generator[PlainPair]:
    """With nothing started; all gone after it."""
    with Network(share=(root,)) as net:
        yield PlainPair(net, root, best)

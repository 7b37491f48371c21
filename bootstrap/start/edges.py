"""Where a node's machine begins: folders, addresses and the interpreter, each replaceable by a variable.

Nothing set is a real EC2 node. The rehearsal's sandbox and the tests set what differs there; the code
between the edges is the same. IMDS is AWS_EC2_METADATA_SERVICE_ENDPOINT, read where it's asked.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bootstrap.storage.place import Roots


@dataclass(frozen=True)
class Edge:
    """One replaceable place: its variable, the value on an EC2 node, and what it is."""

    variable: str
    default: str
    what: str


EDGES = (
    Edge("NIGHTSHIFT_ROOT", "/opt/nightshift", "what was fetched or built: the agent, runtimes"),
    Edge("NIGHTSHIFT_MACHINE", "/", "where the readiness checks find /proc, /sys, /dev and /etc"),
    Edge("NIGHTSHIFT_DEV", "/dev", "block devices"),
    Edge("NIGHTSHIFT_SYS", "/sys", "sysfs"),
    Edge("NIGHTSHIFT_PROC", "/proc", "processes and mounts"),
    Edge("NIGHTSHIFT_DATA", "/data", "where volumes are mounted, by name"),
    Edge("NIGHTSHIFT_RUN_DIR", "/run/nightshift", "what one boot remembers; gone after it"),
    Edge("NIGHTSHIFT_STATE", "/var/lib/nightshift", "what outlives a boot and no node: code, caches"),
    Edge("NIGHTSHIFT_LOGS", "/var/log/nightshift", "logs as files"),
    Edge("NIGHTSHIFT_CGROUP", "", "cgroup that jobs are started below; empty: the agent's own"),
    Edge("NIGHTSHIFT_RUNTIME_PYTHON", "", "an interpreter to take as the runtime; empty: the preset's"),
    Edge("NIGHTSHIFT_RUNTIME_SCRATCH", "", "where runtimes are built; empty: below the root's folder"),
    Edge("NIGHTSHIFT_ACCOUNTS", "/", "the root whose /etc has the logins of people, and /home"),
    Edge("NIGHTSHIFT_POLL_S", "5", "seconds between looks at the metadata service"),
)


@dataclass(frozen=True)
class NodeEdges:
    """All of them, typed. None stands for an empty variable."""

    root: Path = Path("/opt/nightshift")
    machine: Path = Path("/")
    roots: Roots = field(default_factory=Roots)
    run_dir: Path = Path("/run/nightshift")
    state: Path = Path("/var/lib/nightshift")
    logs: Path = Path("/var/log/nightshift")
    cgroup: Path | None = None
    runtime_python: Path | None = None
    runtime_scratch: Path | None = None
    accounts: Path = Path("/")
    poll_s: float = 5.0

    @property
    def runtimes(self) -> Path:
        """Where runtimes lie."""
        return self.root / "runtimes"

    @property
    def job(self) -> Path:
        """What job and agent say to each other: NIGHTSHIFT_JOB."""
        return self.run_dir / "job"


def node_edges(environment: Mapping[str, str] = os.environ) -> NodeEdges:
    """Of this process. Raises ValueError for seconds that are none."""
    given = {each.variable: environment.get(each.variable) or each.default for each in EDGES}
    return NodeEdges(
        root=Path(given["NIGHTSHIFT_ROOT"]),
        machine=Path(given["NIGHTSHIFT_MACHINE"]),
        roots=Roots(
            Path(given["NIGHTSHIFT_DEV"]),
            Path(given["NIGHTSHIFT_SYS"]),
            Path(given["NIGHTSHIFT_PROC"]),
            Path(given["NIGHTSHIFT_DATA"]),
        ),
        run_dir=Path(given["NIGHTSHIFT_RUN_DIR"]),
        state=Path(given["NIGHTSHIFT_STATE"]),
        logs=Path(given["NIGHTSHIFT_LOGS"]),
        cgroup=_path(given["NIGHTSHIFT_CGROUP"]),
        runtime_python=_path(given["NIGHTSHIFT_RUNTIME_PYTHON"]),
        runtime_scratch=_path(given["NIGHTSHIFT_RUNTIME_SCRATCH"]),
        accounts=Path(given["NIGHTSHIFT_ACCOUNTS"]),
        poll_s=_seconds(given["NIGHTSHIFT_POLL_S"]),
    )


def _path(text: str) -> Path | None:
    return Path(text) if text else None


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 3600:
        raise ValueError(f"NIGHTSHIFT_POLL_S: given {text!r}, expected seconds between 0 and 3600")
    return seconds

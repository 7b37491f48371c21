"""torchrun's arguments and the job's environment. Pure, but for the look at which folders are there."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bootstrap.launch.edges import JobError

AGENT = Path(__file__).resolve().parents[2]
FIRST_PORT = 29400
"""torchrun's own default; the range lies below the kernel's ephemeral ports (32768 to 60999)."""
PORTS = 200
EFA_LIBRARIES = (
    "/opt/amazon/ofi-nccl/lib",
    "/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu",
    "/opt/amazon/aws-ofi-nccl/lib",
    "/opt/aws-ofi-nccl/lib",
    "/opt/amazon/efa/lib",
)
"""Where the EFA installer and AWS's images leave NCCL's plugin and libfabric."""
_KEEP_ALIVE = "keep_alive_interval=5,keep_alive_max_attempt=3"


@dataclass(frozen=True)
class Script:
    """What torchrun starts: a file or a module, and its arguments."""

    words: tuple[str, ...]
    module: bool


@dataclass(frozen=True)
class Rendezvous:
    """One generation, as one of its nodes sees it."""

    id: str
    nodes: int
    host: str
    port: int
    own_address: str
    hosts: bool


def script_of(run: str) -> Script:
    """job.run as words. Raises JobError for torchrun's own options, which the node chooses."""
    try:
        words = shlex.split(run)
    except ValueError as error:
        raise JobError(f"job.run: given {run!r}, which isn't a command line: {error}") from None
    module = bool(words) and words[0] in ("-m", "--module")
    words = words[1:] if module else words
    if not words or words[0].startswith("-"):
        raise JobError(
            f"job.run: given {run!r}, expected a script and its arguments, such as train.py --epochs 90, or "
            "-m package.module; torchrun's own options are the node's"
        )
    return Script(tuple(words), module)


def torchrun_arguments(
    script: Script, meeting: Rendezvous, gpus: int, join_s: float, logs: Path
) -> list[str]:
    """One gang that is never mended: a fixed number of nodes, no restarts, no late joiners."""
    conf = (
        f"is_host={int(meeting.hosts)},join_timeout={join_s:g},last_call_timeout=1,"
        f"read_timeout={min(join_s, 120):g},{_KEEP_ALIVE}"
    )
    return [
        f"--nnodes={meeting.nodes}",
        f"--nproc-per-node={gpus}",
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint={meeting.host}:{meeting.port}",
        f"--rdzv-id={meeting.id}",
        f"--rdzv-conf={conf}",
        f"--local-addr={meeting.own_address}",
        "--max-restarts=0",
        f"--log-dir={logs}",
        *(["--module"] if script.module else []),
        *script.words,
    ]


def base_environment(
    python: Path, region: str, interface: str, gpus: int, libraries: Sequence[str], more: Mapping[str, str]
) -> dict[str, str]:
    """Nothing of the agent's own: its PYTHONPATH leads to its libraries. No secret: others come in later.

    `interface`: the one that the other nodes are reached by; empty for one node alone, which needs none.
    """
    known = {
        "PATH": f"{python.parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
        "TORCH_ELASTIC_SHUTDOWN_TIMEOUT": "10",
        "GLOO_SOCKET_IFNAME": interface or "lo",
    }
    if interface:
        known["NCCL_SOCKET_IFNAME"] = f"={interface}"
    if gpus > 1:
        known["OMP_NUM_THREADS"] = "1"
    if libraries:
        known |= {"LD_LIBRARY_PATH": ":".join(libraries), "NCCL_NET": "AWS Libfabric"}
    return {**known, **more}


def library_environment(root: Path = AGENT) -> dict[str, str]:
    """The way to `nightshift.training`: the agent's artifact carries it in a folder apart, for jobs."""
    folder = root / "job"
    return {"PYTHONPATH": str(folder)} if folder.is_dir() else {}


def job_environment(job: Path, checkpoints: Path, run: str, generation: int) -> dict[str, str]:
    """The contract's part (docs/training-contract.md)."""
    return {
        "NIGHTSHIFT_JOB": str(job),
        "NIGHTSHIFT_CHECKPOINTS": str(checkpoints),
        "NIGHTSHIFT_RUN": run,
        "NIGHTSHIFT_GENERATION": str(generation),
    }


def efa_libraries(wanted: bool, root: Path = Path("/")) -> list[str]:
    """Those that are there, when the group has the fabric."""
    return [each for each in EFA_LIBRARIES if wanted and (root / each.lstrip("/")).is_dir()]


def port_of(generation: int, turn: int = 0) -> int:
    """A port for a generation's rendezvous; the next `turn` when that one is taken."""
    return FIRST_PORT + (generation + turn) % PORTS

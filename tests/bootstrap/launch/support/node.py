"""One node's agent, of which only the job is real: begins it, prints what happens, ends with it.

Reads one JSON object from standard input (see `Wanted`). Prints one JSON object a line: what was said, and
`ended` last. SIGTERM is a notice: drain within 60 s. Standard input's end changes nothing.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import boto3
from botocore.config import Config

from bootstrap.imds import Instance
from bootstrap.launch.board import S3Board
from bootstrap.launch.edges import JobEdges, Waits
from bootstrap.launch.folders import checkpoints_folder
from bootstrap.launch.logs import JobLog, RotatingFile
from bootstrap.launch.running import RunningJob, begin
from bootstrap.manifest import BootJob, BootManifest, BootVolume

NOTICE_S = 60.0


@dataclass(frozen=True)
class Wanted:
    """`root`: this node's own folder, which outlives the agent. `endpoint` empty: a group of one node."""

    root: str
    instance: str
    ip: str
    nodes: int
    repo: str
    python: str
    endpoint: str = ""
    group: str = "vit"
    run: str = "train.py"
    cgroup: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    waits: dict[str, float] = field(default_factory=dict)


def manifest_of(wanted: Wanted) -> BootManifest:
    """A group with one pool volume and this job."""
    return BootManifest(
        site="lab",
        group=wanted.group,
        group_name=f"nightshift-lab-{wanted.group}",
        region="us-east-1",
        zone="us-east-1a",
        nodes=wanted.nodes,
        instance_types=("g5.xlarge",),
        efa=False,
        runtime="cpu",
        timezone="UTC",
        shifts=(),
        volumes=(BootVolume("runs", 1, "xfs", "node", True),),
        boot_s=600,
        drain_s=60,
        data_bucket="data",
        log_group="/nightshift/lab",
        job=BootJob(wanted.repo, None, wanted.run, (), "stay"),
    )


def board_of(wanted: Wanted) -> S3Board | None:
    """With a client that fails soon: the job doesn't wait for it, but a lease does."""
    if not wanted.endpoint:
        return None
    client = boto3.client(
        "s3",
        endpoint_url=wanted.endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(connect_timeout=2, read_timeout=4, retries={"total_max_attempts": 2}),
    )
    return S3Board(client, "data", wanted.group)


def start(wanted: Wanted) -> tuple[RunningJob, JobLog]:
    """The job as the agent would begin it."""
    root, manifest = Path(wanted.root), manifest_of(wanted)
    log = JobLog(RotatingFile(root / "logs" / "job.log"), journal=lambda _line: None)
    edges = JobEdges(
        job=root / "run" / "job",
        checkpoints=checkpoints_folder(manifest, root / "data"),
        code=root / "code",
        secrets=lambda name: f"value of {name}",
        ip=wanted.ip,
        board=board_of(wanted),
        cgroup=Path(wanted.cgroup) if wanted.cgroup else None,
        log=log,
        gpus=1,
        environment=wanted.environment,
        waits=Waits(**wanted.waits),  # ty: ignore[invalid-argument-type]
    )
    return begin(
        manifest, Instance(wanted.instance, "g5.xlarge", "us-east-1a"), Path(wanted.python), edges, say
    ), log


def say(text: str) -> None:
    tell(says=text)


def tell(**facts: Any) -> None:
    """One line; a reader that went away is no trouble of the job's."""
    try:
        print(json.dumps({"at": round(time.time(), 3), **facts}), flush=True)
    except BrokenPipeError:
        sys.stdout = sys.stderr


def main() -> int:
    """0 once the job has ended here, however it did."""
    job, log = start(Wanted(**json.loads(sys.stdin.readline())))

    def notice(_number: int, _frame: FrameType | None) -> None:
        job.drain("spot notice", time.time() + NOTICE_S)

    signal.signal(signal.SIGTERM, notice)
    tell(says="up")
    while (ended := job.poll()) is None:
        time.sleep(0.05)
    log.close()
    tell(ended=vars(ended))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Where a job meets its node: folders, addresses, stores, and how long each wait may take."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bootstrap.launch.board import Board
from bootstrap.launch.lease import Kind
from bootstrap.launch.logs import JobLog

Secrets = Callable[[str], str]
"""Name of a secret -> its value. Raises LookupError or OSError with the reason."""


@dataclass(frozen=True)
class Waits:
    """Seconds; `restarts` is a number: launches in a row that reach no new step before the run is given up.

    A record older than `lease_s` is a lost node's. `gather_s`: how long the first generation of a shift
    waits for all nodes (None: the group's boot time). `warm_s`: for how long a node lets its imports keep
    it from being ready; `ready_s`: for how long others wait for it. `settle_s`: how long a late node is
    waited for to be followed by others. `mourn_s`: how long the rest of a lost generation may take to end
    by itself. `join_s`, `start_s`, `stall_s`: all nodes in the rendezvous; the first step; any later one.
    `again_s`: the first step of a later launch, at least; four times what one took before, if that's more.
    `exit_s`: from a job's last word to its end. `last_words_s`: from the end of a worker, or the word that it
    failed, until torchrun isn't waited for any more, which takes up to ten seconds to see it. The second
    restart in a row without a step waits `backoff_s`, each later one four times longer.
    """

    poll_s: float = 1.0
    wake_s: float = 0.5
    beat_s: float = 2.0
    lease_s: float = 10.0
    new_start_s: float = 600.0
    gather_s: float | None = None
    ready_s: float = 120.0
    warm_s: float = 90.0
    settle_s: float = 10.0
    mourn_s: float = 5.0
    regroup_s: float = 180.0
    join_s: float = 300.0
    start_s: float = 1800.0
    again_s: float = 60.0
    stall_s: float = 1800.0
    idle_s: float = 1800.0
    cut_off_s: float = 300.0
    finish_s: float = 120.0
    exit_s: float = 30.0
    kill_s: float = 30.0
    boot_term_s: float = 1.0
    last_words_s: float = 1.0
    code_s: float = 900.0
    part_s: float = 5.0
    backoff_s: float = 5.0
    restarts: int = 3


@dataclass(frozen=True)
class JobEdges:
    """`board` None: one node, nobody to agree with. `cgroup` None: the agent's own, found by itself.

    `job`: what job and agent share, `/run/nightshift/job`. `checkpoints`: see folders.checkpoints_folder.
    `code`: where clones lie. `ip`: this node's address that the others reach. `log`: made by JobLog, closed
    by its maker; None: what the job prints is read and thrown away. `gpus` processes are started; None: as
    many as the instance type has GPUs. `environment` is added to the job's, on top of the clean one.
    """

    job: Path
    checkpoints: Path
    code: Path
    secrets: Secrets
    ip: str = "127.0.0.1"
    board: Board | None = None
    cgroup: Path | None = None
    log: JobLog | None = None
    gpus: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    waits: Waits = field(default_factory=Waits)
    now: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time


@dataclass(frozen=True)
class Ended:
    """How the job ended on this node. `saved`: no step that was made is lost."""

    kind: Kind
    step: int | None
    checkpoint: str | None
    saved: bool
    reason: str


class JobError(Exception):
    """The job can't be started as it stands in the stack file; the message says what to change."""

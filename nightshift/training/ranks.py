"""Which processes train together, which of them save together, and how they agree."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.api import CheckpointException

from nightshift.training.errors import SaveError, TrainingError
from nightshift.training.old_torch import speak_to_the_first_of_the_group

T = TypeVar("T")
# A group freed right after its last collective can hang (torch 2.6: its destructor holds the interpreter and
# joins a thread that waits for the interpreter), so these live as long as the process.
_HELD: list[dist.ProcessGroup] = []
SAVING_PATIENCE = timedelta(minutes=30)  # collectives of the background wait for the slowest disk
TROUBLE = (Exception, CheckpointException)  # the latter derives from BaseException


@dataclass(frozen=True)
class Team:
    """Ranks that do something together over a gloo group of their own; alone without one."""

    rank: int = 0
    size: int = 1
    group: dist.ProcessGroup | None = None

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def gather(self, value: T) -> list[T]:
        """Every rank's value, in rank order, on every rank."""
        if self.group is None:
            return [value]
        values: list[Any] = [None] * self.size
        dist.all_gather_object(values, value, group=self.group)
        return values

    def largest(self, numbers: list[int]) -> list[int]:
        """The largest of each number over the ranks: one small collective."""
        if self.group is None:
            return numbers
        words = torch.tensor(numbers, dtype=torch.int64)
        dist.all_reduce(words, op=dist.ReduceOp.MAX, group=self.group)
        return words.tolist()

    def agreed(self, act: Callable[[], T]) -> T:
        """Do `act` on every rank. SaveError on all of them when it failed on any."""
        done: list[T] = []
        _, wrong = attempt(lambda: done.append(act()))
        failed = [says for says in self.gather(wrong) if says]
        if failed:
            raise SaveError("; ".join(sorted(set(failed))))
        return done[0]


def attempt(act: Callable[[], T]) -> tuple[T | None, str | None]:
    """The value, or in a sentence why there is none."""
    try:
        return act(), None
    except TROUBLE as error:
        return None, reason(error)


def reason(error: BaseException) -> str:
    """The innermost words of what went wrong; a failed collective save hides them in `failures`."""
    if isinstance(error, CheckpointException):
        inner = [one[0] if isinstance(one, tuple) else one for one in error.failures.values()]
        return "; ".join(sorted({reason(one) for one in inner})) or str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}{f': {error.filename}' if error.filename else ''}"
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


@dataclass(frozen=True)
class Ranks:
    """`control`: for the training thread; `team`: for the thread that saves; `shared`: one folder for all."""

    control: Team
    team: Team
    node: int
    nodes: int
    shared: bool

    @property
    def local_lead(self) -> bool:
        """One process of each node writes what the node's agent reads."""
        return self.team.leads if not self.shared else _local_rank() == 0


def find_ranks(root: Path) -> Ranks:
    """Collective. Ranks of one node save together; all ranks do when every node sees the same `root`.

    Raises TrainingError without numpy, which torch itself doesn't bring along.
    """
    if not (dist.is_available() and dist.is_initialized()):
        return Ranks(Team(), Team(), 0, 1, True)
    if find_spec("numpy") is None:
        raise TrainingError(
            "numpy is missing: torch needs it for what ranks tell each other; pip install numpy"
        )
    everyone = list(range(dist.get_world_size()))
    speak_to_the_first_of_the_group()
    control = Team(dist.get_rank(), len(everyone), _gloo(everyone))
    homes = control.gather(_home())
    nodes = sorted(set(homes), key=homes.index)
    shared = len(nodes) == 1 or _is_shared(root, control)
    crews = [everyone] if shared else [[rank for rank in everyone if homes[rank] == home] for home in nodes]
    groups = [_gloo(crew) for crew in crews]
    mine = next(index for index, crew in enumerate(crews) if control.rank in crew)
    team = Team(crews[mine].index(control.rank), len(crews[mine]), groups[mine])
    return Ranks(control, team, nodes.index(_home()), len(nodes), shared)


def _gloo(ranks: list[int]) -> dist.ProcessGroup | None:
    """None for ranks that are not in it."""
    group = dist.new_group(ranks, timeout=SAVING_PATIENCE, backend="gloo")
    if not isinstance(group, dist.ProcessGroup):
        return None
    _HELD.append(group)
    return group


def _home() -> str:
    """torchrun numbers the nodes; launched otherwise, the host's name tells them apart."""
    return os.environ.get("GROUP_RANK") or socket.gethostname()


def _local_rank() -> int:
    given = os.environ.get("LOCAL_RANK") or (str(dist.get_rank()) if dist.is_initialized() else "0")
    return int(given)


def _is_shared(root: Path, control: Team) -> bool:
    token = control.gather(secrets.token_hex(8))[0]
    probe = root / f".probe-{token}"
    if control.leads:
        probe.touch()
    control.gather(None)
    seen = all(control.gather(probe.exists()))
    if control.leads:
        with suppress(OSError):
            probe.unlink()
    return seen

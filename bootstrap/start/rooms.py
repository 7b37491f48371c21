"""What the agent asks of the other rooms, as one interface: real ones by `wiring`, others in tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bootstrap.drain.path import Ending, Job, PeopleEnds, VolumeEnds
from bootstrap.drain.report import Saved
from bootstrap.readiness.verdict import Finding

Heartbeat = Callable[[str], None]
"""Told what is waited for. Raises Interrupted when a notice has come: let it pass."""


class NotReady(Exception):
    """A room can't do its part of a boot; `finding` says what it expected, found and what to do."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(f"{finding.check}: {finding.found}")
        self.finding = finding


class Training(Job, Protocol):
    """A job that runs, as the agent's loop sees it."""

    def set_shift(self, ends_at: float | None, mean_between_losses_s: float | None) -> None:
        """When this node drains as things stand (unix seconds), and how often one like it is lost."""


@dataclass(frozen=True)
class NamedCheck:
    """A readiness check of this boot."""

    name: str
    run: Callable[[], Finding]


class People(PeopleEnds, Protocol):
    """Who works on this node. `look` and `keep` are called again and again, each on one thread."""

    def begin(self, python: Path) -> None:
        """From now on `look` starts notebooks."""

    def look(self) -> None:
        """See to the notebooks."""

    def keep(self) -> None:
        """Tell operators how notebooks are reached. Raises one of AwsError."""

    def tell(self, text: str) -> None:
        """A word to everyone at a terminal; returns at once."""


class Rooms(Protocol):
    """One node's rooms for one manifest."""

    @property
    def people(self) -> People:
        """Who works on this node."""

    @property
    def volumes(self) -> VolumeEnds:
        """The group's volumes on this node."""

    def end_left_over(self) -> None:
        """Kill what an earlier agent left of a job, or of notebooks."""

    def prepare(self, heartbeat: Heartbeat) -> Path:
        """Hold packages, see to the runtime; its interpreter. Raises NotReady."""

    def checks(self, python: Path, heartbeat: Heartbeat) -> Sequence[NamedCheck]:
        """Every readiness check in order, volumes among them."""

    def begin(self, python: Path) -> Training:
        """Start the job. Raises NotReady when it can't be started as it is declared."""

    def saved(self, job: Job | None, ended: Ending | None) -> Saved | None:
        """The newest checkpoint that is known."""

    def busiest(self) -> int | None:
        """Percent of the busiest card now; None when it can't be told."""

    def gpus(self) -> float:
        """How many cards this node bills."""

    def close(self) -> None:
        """Send on what the job's log still holds."""

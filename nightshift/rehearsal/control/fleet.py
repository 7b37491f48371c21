"""What runs on an instance, as AWS's part asks for it: modelled nodes, real ones, or some of each.

The control plane calls a fleet in the order of virtual time, one call at a time. A call may take as long as
it likes in real time; what counts is the seconds that it returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from bootstrap.manifest import BootManifest
from nightshift.plan.calendar import Override

Market = Literal["on-demand", "spot", "capacity-block"]
Ails = frozenset[str]
"""Kinds of the faults (faults/table.py) that the node has at the time of the call."""


@dataclass(frozen=True)
class Instance:
    """An instance as AWS launched it. `volumes` are the ids that it holds, in the order it took them."""

    id: str
    group: str
    type: str
    market: Market
    zone: str
    launched: int
    manifest: BootManifest
    volumes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Boot:
    """`seconds` until the node says something; None: it never does, and AWS's patience ends it.

    `ready` or a `reason`. `resumed`: the step from which its job goes on, None without a job.
    """

    seconds: int | None
    ready: bool
    reason: str = ""
    resumed: int | None = None


@dataclass(frozen=True)
class Work:
    """Training up to the time asked for: the `step` reached, the last one `saved`, (at, step, loss) points.

    `may_lose`: steps that a crash at the worst moment costs at most, by this job's own interval.
    `finished`: the instant at which the run was done, None while it isn't.
    """

    step: int
    saved: int
    may_lose: int
    points: tuple[tuple[int, int, float], ...] = ()
    finished: int | None = None


@dataclass(frozen=True)
class Drain:
    """A planned end took `seconds`; `step` was the last one done, `saved` the last one kept.

    `seconds` None: the node never said that it was done.
    """

    seconds: int | None
    step: int
    saved: int
    says: str = ""


class Fleet(Protocol):
    """All instants are virtual, whole seconds since 1970, UTC."""

    def real(self, group: str) -> bool:
        """Whether the group's nodes run as real processes."""
        ...

    def reach(self, instance: Instance, at: int, ails: Ails) -> Boot:
        """Launched at `at`: how long until it asks for its volumes. `ready` True: it will ask."""
        ...

    def boot(self, instance: Instance, at: int, ails: Ails) -> Boot:
        """It holds its volumes since `at`: how long until its verdict. A ready node's job begins then."""
        ...

    def work(self, instance: Instance, since: int, until: int, ails: Ails) -> Work:
        """The group's job has run on this node (and its peers) from `since` to `until`."""
        ...

    def drain(self, instance: Instance, at: int, budget_s: int, planned: bool, ails: Ails) -> Drain:
        """Told at `at` to end within `budget_s`, after `work` was asked up to then."""
        ...

    def strike(self, instance: Instance, at: int, kind: str, seconds: int) -> None:
        """A fault of a kind that lies on the node (faults/table.py) hits it, for so many seconds."""
        ...

    def gone(self, instance: Instance, at: int, how: str) -> None:
        """The instance is no more: end whatever still runs of it, at once."""
        ...

    def finish_s(self, instance: Instance, at: int) -> int | None:
        """Seconds of training left from `at` until the run is done; None when it isn't known."""
        ...

    def obey(self, words: Mapping[str, Override]) -> None:
        """Operators' words by group, read whenever a node would read them: they change while it plays."""
        ...


@dataclass(frozen=True)
class MixedFleet:
    """Some groups on a fleet of their own, all others on `rest`."""

    own: Mapping[str, Fleet]
    rest: Fleet

    def _of(self, group: str) -> Fleet:
        return self.own.get(group, self.rest)

    def real(self, group: str) -> bool:
        """As the group's fleet says."""
        return self._of(group).real(group)

    def reach(self, instance: Instance, at: int, ails: Ails) -> Boot:
        """As the group's fleet says."""
        return self._of(instance.group).reach(instance, at, ails)

    def boot(self, instance: Instance, at: int, ails: Ails) -> Boot:
        """As the group's fleet says."""
        return self._of(instance.group).boot(instance, at, ails)

    def work(self, instance: Instance, since: int, until: int, ails: Ails) -> Work:
        """As the group's fleet says."""
        return self._of(instance.group).work(instance, since, until, ails)

    def drain(self, instance: Instance, at: int, budget_s: int, planned: bool, ails: Ails) -> Drain:
        """As the group's fleet says."""
        return self._of(instance.group).drain(instance, at, budget_s, planned, ails)

    def strike(self, instance: Instance, at: int, kind: str, seconds: int) -> None:
        """As the group's fleet says."""
        self._of(instance.group).strike(instance, at, kind, seconds)

    def gone(self, instance: Instance, at: int, how: str) -> None:
        """As the group's fleet says."""
        self._of(instance.group).gone(instance, at, how)

    def finish_s(self, instance: Instance, at: int) -> int | None:
        """As the group's fleet says."""
        return self._of(instance.group).finish_s(instance, at)

    def obey(self, words: Mapping[str, Override]) -> None:
        """All fleets read them."""
        for fleet in (*self.own.values(), self.rest):
            fleet.obey(words)

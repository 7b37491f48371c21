"""What changes while a site is played: groups, their nodes, volumes, and what each group's job has saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from nightshift.rehearsal.control.fleet import Instance
from nightshift.rehearsal.story import Ending, Phase, PhaseName
from nightshift.rehearsal.world.model import Group, Hook, ScheduledAction, Transition, Volume

Where = Literal["pending", "in service", "terminating", "gone"]
LONGEST_WAIT_S, LONGEST_HEARTBEATS = 172_800, 100
"""A hook waits at most so long in all (Auto Scaling User Guide, lifecycle hooks)."""


@dataclass(eq=False, slots=True)
class Node:
    """One instance on its way. `deadline`: when AWS stops to wait for the hook that holds it.

    `leaves`: it takes itself out of its group; `on_cut`: what a drain that is cut short costs.
    `taken`: volumes that it asked for and got by AWS's word; `held`: those that it writes to.
    """

    instance: Instance
    real: bool = False
    where: Where = "pending"
    deadline: int | None = None
    limit: int = 0
    taken: list[VolumeState] = field(default_factory=list)
    held: list[VolumeState] = field(default_factory=list)
    ails: dict[str, int] = field(default_factory=dict)
    phases: list[Phase] = field(default_factory=list)
    phase_since: int = 0
    ready_at: int | None = None
    noticed: bool = False
    draining: bool = False
    drained: bool = False
    leaves: bool = False
    on_cut: Callable[[], None] | None = None
    ended: int | None = None
    how: Ending = "alive"
    why: str = ""
    resumed: int | None = None
    steps_from: int | None = None
    steps_to: int | None = None
    steps_kept: int | None = None

    @property
    def id(self) -> str:
        """The instance's id."""
        return self.instance.id

    def ailing(self, now: int) -> frozenset[str]:
        """The faults that it has now."""
        return frozenset(kind for kind, until in self.ails.items() if until > now)

    def enter(self, phase: PhaseName, now: int) -> None:
        """What it did since the last change was `phase`."""
        if now > self.phase_since:
            self.phases.append(Phase(phase, self.phase_since, now))
        self.phase_since = now


@dataclass(eq=False, slots=True)
class VolumeState:
    """A volume: who holds it by AWS's word, who writes to it. `snapshots` are those kept, `taken` all.

    `slow_until`: EC2 lets go of it no earlier.
    """

    volume: Volume
    holder: Node | None = None
    holding: Literal["", "attaching", "attached", "detaching"] = ""
    writers: list[Node] = field(default_factory=list)
    snapshots: list[int] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)
    slow_until: int = 0


@dataclass(frozen=True, slots=True)
class Stop:
    """A job stopped at `at` and lost so many steps."""

    at: int
    node: str
    lost: int


@dataclass(eq=False, slots=True)
class JobState:
    """A group's training run. `lead` runs it since `since`; `saved` is the last committed step."""

    lead: Node | None = None
    since: int = 0
    step: int = 0
    saved: int = 0
    lost: int = 0
    first: int | None = None
    finished: int | None = None
    points: list[tuple[int, int, float]] = field(default_factory=list)
    resumes: list[tuple[int, int]] = field(default_factory=list)
    stops: list[Stop] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the group's metrics say from `at` on."""

    at: int
    desired: int
    in_service: int
    pending: int


@dataclass(eq=False, slots=True)
class GroupState:
    """One Auto Scaling group on its way. `name` is the short one, `actions` those in force now."""

    group: Group
    name: str
    desired: int
    least: int
    most: int
    actions: tuple[ScheduledAction, ...] = ()
    nodes: list[Node] = field(default_factory=list)
    past: list[Node] = field(default_factory=list)
    launched: int = 0
    suspended: set[str] = field(default_factory=set)
    turns_made: int = 0
    fired_at: int = 0
    retry_s: int = 0
    retry_due: bool = False
    refused_since: int | None = None
    sizes: list[Sizes] = field(default_factory=list)
    failed_boots: list[int] = field(default_factory=list)
    job: JobState = field(default_factory=JobState)

    def hook(self, transition: Transition) -> Hook | None:
        """The hook of a transition; the program declares one of each."""
        return next((hook for hook in self.group.hooks if hook.transition == transition), None)

    def counted(self) -> list[Node]:
        """Those that count towards the desired size."""
        return [node for node in self.nodes if node.where in ("pending", "in service")]

    def in_service(self) -> list[Node]:
        """Those that proved that they can train."""
        return [node for node in self.nodes if node.where == "in service"]

    def all_nodes(self) -> Iterator[Node]:
        """Every node there ever was, oldest first."""
        yield from self.past
        yield from self.nodes

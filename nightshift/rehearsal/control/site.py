"""One site being played: its clock, its parts, who watches, and what has happened."""

from __future__ import annotations

from collections.abc import Callable, MutableSequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from nightshift.rehearsal.control.fleet import Fleet
from nightshift.rehearsal.control.queue import Queue
from nightshift.rehearsal.control.state import GroupState, Node, Sizes, VolumeState
from nightshift.rehearsal.control.timing import LATE_AT_MOST_S
from nightshift.rehearsal.story import Event
from nightshift.rehearsal.world.model import SnapshotPolicy, World

if TYPE_CHECKING:
    from nightshift.plan.calendar import Override
    from nightshift.rehearsal.control.alarms import AlarmState


_OF_GROUP = ("no-capacity", "suspended", "alarm", "policy")
"""Events of a whole group that a fault can stand behind."""


class Watch(Protocol):
    """Hears of every moment at which an invariant could break. None of its words changes what happens."""

    def sized(self, site: Site, group: GroupState, why: str) -> None:
        """The desired size moved."""
        ...

    def mounted(self, site: Site, volume: VolumeState, node: Node) -> None:
        """A node writes to a volume from now on."""
        ...

    def unmounted(self, site: Site, volume: VolumeState, node: Node) -> None:
        """It writes no more."""
        ...

    def resumed(self, site: Site, group: GroupState, node: Node, step: int) -> None:
        """A job goes on from `step`."""
        ...

    def stopped(
        self, site: Site, group: GroupState, node: Node, step: int, kept: int, may_lose: int, planned: bool
    ) -> None:
        """A job stopped at `step`, of which `kept` are saved."""
        ...

    def ended(self, site: Site, group: GroupState, node: Node) -> None:
        """An instance is gone."""
        ...

    def snapshots(self, site: Site, policy: SnapshotPolicy, due: int) -> None:
        """A policy's turn that was due then is over."""
        ...

    def missed(self, site: Site, group: GroupState) -> None:
        """A scheduled action of the group was lost."""
        ...

    def reworded(self, site: Site, group: GroupState, override: Override) -> None:
        """An operator's word is in force from now on."""
        ...

    def struck(self, site: Site, group: GroupState, kind: str, until: int) -> None:
        """A fault hit the group; its effect ends at `until`."""
        ...


@dataclass(frozen=True, slots=True)
class Coming:
    """A fault that waits for the group's next nodes: until then, at most so many of them."""

    kind: str
    until: int
    nodes: int
    fault: str


@dataclass(eq=False)
class Site:
    """Everything that a part needs to act. `refused`: group to the instant until which AWS has no capacity.

    `missing`: (group, from, fault): the first scheduled action at or after it is lost. `coming`: what awaits
    the next nodes of a group. `blamed`: by node or group, the fault behind what happens to it until then.
    `heard` is told each event.
    """

    world: World
    fleet: Fleet
    watch: Watch
    seed: int
    start: int
    end: int
    groups: dict[str, GroupState]
    volumes: dict[str, VolumeState]
    queue: Queue
    events: MutableSequence[Event]
    named: dict[str, list[VolumeState]] = field(default_factory=dict)
    alarms: dict[str, list[AlarmState]] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    missing: list[tuple[str, int, str]] = field(default_factory=list)
    coming: dict[str, list[Coming]] = field(default_factory=dict)
    blamed: dict[str, tuple[str, int]] = field(default_factory=dict)
    heard: Callable[[Event], None] | None = None
    overrides: dict[str, Override] = field(default_factory=dict)
    late_most_s: int = LATE_AT_MOST_S
    changed: Callable[[Site, GroupState], None] = lambda site, group: None
    settle: Callable[[Site, GroupState], None] = lambda site, group: None

    @property
    def now(self) -> int:
        """The virtual instant."""
        return self.queue.now

    def tell(
        self,
        kind: str,
        says: str,
        group: str | None = None,
        node: str | None = None,
        fault: str | None = None,
    ) -> None:
        """Write an event down, with the fault behind it if there is one."""
        behind = fault or self._fault(kind, group, node)
        event = Event(self.now, kind, says, group, node, behind)
        self.events.append(event)
        if self.heard is not None:
            self.heard(event)

    def _fault(self, kind: str, group: str | None, node: str | None) -> str | None:
        key = node if node is not None else group if kind in _OF_GROUP else None
        name, until = self.blamed.get(key or "", ("", 0))
        return name if name and self.now <= until else None

    def note_sizes(self, group: GroupState) -> None:
        """The group's metrics from now on, where they changed."""
        counts = (
            group.desired,
            sum(node.where == "in service" for node in group.nodes),
            sum(node.where == "pending" for node in group.nodes),
        )
        last = group.sizes[-1] if group.sizes else None
        if last is None or (last.desired, last.in_service, last.pending) != counts:
            group.sizes.append(Sizes(self.now, *counts))
            self.changed(self, group)


def resize(site: Site, group: GroupState, desired: int, why: str) -> None:
    """Move the desired size, within the bounds."""
    wanted = max(group.least, min(group.most, desired))
    if wanted != group.desired:
        group.desired = wanted
        site.watch.sized(site, group, why)

"""A group of nodes without processes: the real coordination, on a clock and a board of the test's own."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from bootstrap.launch.board import Conflict, LeaseSeen, MemberSeen, Unreachable
from bootstrap.launch.coordination import Coordinator
from bootstrap.launch.edges import Waits
from bootstrap.launch.generations import Group, react
from bootstrap.launch.lease import Kind, Lease, Member

TICK_S = 0.5
STEP_AFTER_S = 4.0
"""From a launch to a generation's first step."""


@dataclass
class World:
    """What all share: time, the board's objects with the time they were written, and what was launched."""

    now: float = 1000.0
    lease: Lease | None = None
    etag: int = 0
    lease_at: float = 0.0
    members: dict[str, tuple[Member, float]] = field(default_factory=dict)
    launched: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    cut: set[str] = field(default_factory=set)
    said: list[str] = field(default_factory=list)


class SharedBoard:
    """One node's way to it."""

    def __init__(self, world: World, instance: str) -> None:
        self._world, self._instance = world, instance

    def _reach(self) -> World:
        if self._instance in self._world.cut:
            raise Unreachable("cut off")
        return self._world

    def lease(self) -> LeaseSeen:
        world = self._reach()
        etag = str(world.etag) if world.lease else None
        return LeaseSeen(world.lease, etag, world.now - world.lease_at)

    def write_lease(self, lease: Lease, etag: str | None) -> str:
        world = self._reach()
        if etag != (str(world.etag) if world.lease else None):
            raise Conflict("changed")
        world.lease, world.etag, world.lease_at = lease, world.etag + 1, world.now
        return str(world.etag)

    def members(self) -> list[MemberSeen]:
        world = self._reach()
        return [MemberSeen(member, world.now - at) for member, at in world.members.values()]

    def write_member(self, member: Member) -> None:
        world = self._reach()
        world.members[member.instance] = (member, world.now)


class SimNode:
    """A node whose job is a counter: it steps while all of its generation's nodes run it too."""

    def __init__(self, world: World, name: str, nodes: int, waits: Waits) -> None:
        self.world, self.name = world, name
        self._group = Group(nodes, waits.gather_s or 0.0, waits)
        self._starts = 0
        self.alive = False
        self.running = 0
        self.steps = 0
        self.launched_at = 0.0
        self._saved_at: float | None = None
        self._leaves = False
        self.saving_s = 1.0
        self.cut_short = 0
        self.boot()

    @property
    def key(self) -> str:
        return self.coordinator.me.key

    def boot(self) -> None:
        """Its agent begins, first or again; nothing runs."""
        self._starts += 1
        self._leaves = False
        self.alive, self.running, self._saved_at = True, 0, None
        me = Member(self.name, f"{self._starts}", "run", f"10.0.0.{self.name[1:]}", ready=True)
        self.coordinator = Coordinator(
            SharedBoard(self.world, self.name),
            me,
            self._group,
            lambda generation: 29400 + generation,
            lambda: self.world.now,
            lambda text: self.world.said.append(f"{self.world.now:.1f} {self.name}: {text}"),
        )

    def crash(self) -> None:
        self.alive, self.running = False, 0

    def leave(self, nodes: list[SimNode]) -> None:
        """Its notice: all of the gang save at the same step, each as long as it takes; then it goes."""
        self._leaves = True
        self.coordinator.tell(leaving=True, ready=False)
        self._drain(nodes)

    def _drain(self, nodes: list[SimNode]) -> None:
        for each in nodes:
            if each.running == self.running and each._saved_at is None:
                each._saved_at = self.world.now + each.saving_s

    def fail(self) -> None:
        """Its worker dies."""
        if self.running:
            self._end("lost")

    def tick(self, nodes: list[SimNode]) -> None:
        """Half a second of its life."""
        if not self.alive:
            return
        try:
            self.coordinator.step()
        except Unreachable:
            self.coordinator._since.lasts("reached", False)
        lease = self.coordinator.lease
        act = react(lease, self.coordinator.me, self.running) if lease else "wait"
        if act == "end":
            self.cut_short += self._saved_at is not None
            self.running, self._saved_at = 0, None
            self.coordinator.tell(ready=True)
        elif act == "launch" and lease is not None:
            self._launch(lease)
        elif act == "regroup" and self._saved_at is None:
            self._drain(nodes)
        if self.running and lease is not None:
            self._train(lease, nodes)

    def _launch(self, lease: Lease) -> None:
        self.world.launched[lease.generation].add(lease.id)
        self.running, self.launched_at, self._saved_at = lease.generation, self.world.now, None
        self.coordinator.tell(ready=False, last=lease.generation, verdict=None)

    def _train(self, lease: Lease, nodes: list[SimNode]) -> None:
        gang = [each for each in nodes if each.running == self.running]
        age = self.world.now - self.launched_at
        if self._saved_at is not None:
            if self.world.now >= self._saved_at:
                self._end("drained")
        elif lease.generation == self.running and len(gang) < len(lease.members):
            if age > STEP_AFTER_S:
                self._end("failed")
        elif age > STEP_AFTER_S:
            self.steps += 1
            self.coordinator.tell(step=self.steps)

    def _end(self, kind: Kind) -> None:
        last, self.running, self._saved_at = self.running, 0, None
        agreed, ready = kind == "drained", not self._leaves
        self.coordinator.tell(
            ready=ready, last=last, verdict=kind, agreed=agreed, reason=kind, step=self.steps
        )
        if self._leaves:
            self.coordinator._step_safely()
            self.coordinator._hand_over()
            self.alive = False


def run(world: World, nodes: list[SimNode], seconds: float) -> None:
    """Let time pass."""
    for _ in range(int(seconds / TICK_S)):
        world.now += TICK_S
        for each in nodes:
            each.tick(nodes)


def settled(world: World, nodes: list[SimNode]) -> str | None:
    """Why the group isn't training as it should, or None: all live nodes in one generation, and no other."""
    live = [each for each in nodes if each.alive]
    if world.lease is None or world.lease.state != "running":
        return f"the lease is {world.lease}"
    if {each.running for each in live} != {world.lease.generation}:
        return f"running: {[(each.name, each.running) for each in live]}, lease {world.lease.generation}"
    if set(world.lease.members) != {each.key for each in live}:
        return f"members {world.lease.members}, live {[each.key for each in live]}"
    return None

"""Volumes: taken by the node's own rule in the node's own order, given by AWS to one instance at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bootstrap.manifest import BootVolume
from bootstrap.storage import order
from bootstrap.storage.place import Waits
from nightshift.rehearsal.control import hooks
from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.control.state import GroupState, Node, VolumeState
from nightshift.rehearsal.control.timing import TIMINGS

_WAITS = Waits()
Mounted = Callable[[Site, GroupState, Node], None]
Refused = Callable[[Site, GroupState, Node, str], None]


def claim(site: Site, group: GroupState, node: Node, mounted: Mounted, refused: Refused) -> None:
    """Take every volume of the manifest, one by one; then `mounted`, or `refused` with the reason."""
    _Claim(site, group, node, mounted, refused).next()


class _Claim:
    """One node's way through its volumes."""

    def __init__(self, site: Site, group: GroupState, node: Node, mounted: Mounted, refused: Refused) -> None:
        self._site, self._group, self._node = site, group, node
        self._mounted, self._refused = mounted, refused
        self._wishes = list(order.claim_order(node.instance.manifest.volumes))
        self._waits_for: BootVolume | None = None

    def next(self) -> None:
        """The next wish, if there is one and the node still boots."""
        if self._node.where != "pending":
            return
        if not self._wishes:
            self._mounted(self._site, self._group, self._node)
            return
        wish = self._wishes[0]
        live = [_seen(state) for state in self._site.named.get(wish.name, ())]
        move = order.decide(wish, live, self._node.id, self._node.instance.zone)
        state = self._site.volumes[move.volume.id] if move.volume is not None else None
        if move.kind == "have" and state is not None:
            self._have(state)
        elif move.kind == "attach" and state is not None and state.holder is None:
            self._attach(state)
        elif move.kind == "refuse":
            self._refused(self._site, self._group, self._node, f"volume {wish.name}: {move.says}")
        else:
            self._wait(f"volume {wish.name}: {move.says}", state)

    def _have(self, state: VolumeState) -> None:
        node, self._waits_for = self._node, None
        node.held.append(state)
        node.instance = replace(node.instance, volumes=(*node.instance.volumes, state.volume.id))
        state.writers.append(node)
        self._site.watch.mounted(self._site, state, node)
        self._wishes.pop(0)
        self.next()

    def _attach(self, state: VolumeState) -> None:
        self._waits_for = None
        state.holder, state.holding = self._node, "attaching"
        self._node.taken.append(state)
        seconds = TIMINGS["attach"].draw(self._site.seed, "attach", self._node.id, state.volume.id)
        self._beat(seconds)
        self._site.queue.after(seconds, self._attached, state)

    def _attached(self, state: VolumeState) -> None:
        if state.holder is self._node and state.holding == "attaching":
            state.holding = "attached"
            self._site.tell("attach", f"volume {state.volume.name}", self._group.name, self._node.id)
            self.next()

    def _wait(self, why: str, state: VolumeState | None) -> None:
        """Somebody else has it: look again when it is free, and give up after the claim's deadline."""
        if self._waits_for is None:
            self._waits_for = self._wishes[0]
            self._site.queue.after(int(_WAITS.claim_s), self._late, self._wishes[0], why)
            self._beat(int(_WAITS.claim_s))
        self._site.queue.after(int(_WAITS.poll_s), self._look, state)

    def _late(self, wish: BootVolume, why: str) -> None:
        if self._waits_for is wish and self._node.where == "pending":
            self._waits_for = None
            self._wishes.clear()
            self._refused(self._site, self._group, self._node, f"{why}, for {_WAITS.claim_s:g} s")

    def _look(self, state: VolumeState | None) -> None:
        """A look costs nothing while nothing changed."""
        if self._waits_for is None or self._node.where != "pending":
            return
        if state is None or state.holder is None:
            self.next()
        else:
            self._site.queue.after(int(_WAITS.poll_s), self._look, state)

    def _beat(self, seconds: int) -> None:
        hook = self._group.hook("launching")
        if hook is not None:
            hooks.beat(self._site, self._node, hook, seconds)


def _seen(state: VolumeState) -> order.LiveVolume:
    """As EC2 describes it."""
    volume = state.volume
    return order.LiveVolume(
        id=volume.id,
        name=volume.name,
        index=volume.index,
        size_gib=volume.size_gib,
        zone=volume.zone,
        state="available" if state.holder is None else "in-use",
        holder=state.holder.id if state.holder else "",
        holding=state.holding,
        snapshot=volume.snapshot,
    )


def unmount(site: Site, node: Node) -> None:
    """The node writes to its volumes no more."""
    for state in node.held:
        if node in state.writers:
            state.writers.remove(node)
            site.watch.unmounted(site, state, node)


def let_go(site: Site, group: GroupState, node: Node) -> None:
    """The instance is gone or has asked for it: EC2 detaches, in its own time."""
    unmount(site, node)
    for state in node.taken:
        if state.holder is node and state.holding != "detaching":
            state.holding = "detaching"
            seconds = TIMINGS["detach"].draw(site.seed, "detach", node.id, state.volume.id)
            free = max(site.now + seconds, state.slow_until)
            site.queue.at(free, _free, site, group, node, state)


def _free(site: Site, group: GroupState, node: Node, state: VolumeState) -> None:
    if state.holder is node:
        state.holder, state.holding = None, ""
        site.tell("detach", f"volume {state.volume.name}", group.name, node.id)

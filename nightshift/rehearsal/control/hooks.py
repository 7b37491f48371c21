"""Lifecycle hooks: how long AWS waits for a node's word, and what it does when none comes."""

from __future__ import annotations

from collections.abc import Callable

from bootstrap.lifecycle import heartbeats
from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.control.state import (
    LONGEST_HEARTBEATS,
    LONGEST_WAIT_S,
    GroupState,
    Node,
)
from nightshift.rehearsal.world.model import Hook

Unanswered = Callable[[Site, GroupState, Node, Hook], None]


def hold(site: Site, group: GroupState, node: Node, hook: Hook, unanswered: Unanswered) -> None:
    """From now on AWS waits; `unanswered` is called when the hook's time is over."""
    node.deadline = site.now + hook.heartbeat_s
    node.limit = site.now + min(LONGEST_WAIT_S, LONGEST_HEARTBEATS * hook.heartbeat_s)
    site.queue.at(node.deadline, _expire, site, group, node, hook, node.where, unanswered)


def let_go(node: Node) -> None:
    """The node has answered."""
    node.deadline = None


def beat(site: Site, node: Node, hook: Hook, working_s: int) -> None:
    """The node works for `working_s` more and says so; beats too far apart are none."""
    if node.deadline is not None and hook.heartbeat_s > heartbeats.EVERY_S:
        node.deadline = min(node.limit, max(node.deadline, site.now + working_s + hook.heartbeat_s))


def _expire(
    site: Site, group: GroupState, node: Node, hook: Hook, where: str, unanswered: Unanswered
) -> None:
    if node.deadline is None or node.where != where:
        return
    if node.deadline > site.now:
        site.queue.at(node.deadline, _expire, site, group, node, hook, where, unanswered)
        return
    node.deadline = None
    unanswered(site, group, node, hook)

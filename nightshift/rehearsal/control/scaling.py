"""A group brought to its desired size: launches, refusals with retries, and which nodes go."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b

from nightshift.rehearsal.control import boots, ends
from nightshift.rehearsal.control.dice import chance
from nightshift.rehearsal.control.fleet import Instance, Market
from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.control.state import GroupState, Node
from nightshift.rehearsal.control.timing import GIVES_UP_S, RETRY_FIRST_S, RETRY_MOST_S

_FIRST_CHOICE = 0.85
"""Assumed: how often spot's strategy takes the next type of the list that has room."""


def settle(site: Site, group: GroupState) -> None:
    """Launch or end until the counted nodes are as many as desired."""
    here = group.counted()
    if len(here) > group.desired and "Terminate" not in group.suspended:
        for node in _surplus(here, len(here) - group.desired):
            ends.terminate(site, group, node, "the group got smaller")
    while len(group.counted()) < group.desired and "Launch" not in group.suspended:
        if not _launch(site, group):
            break
    if group.desired <= len(group.counted()):
        group.retry_s, group.refused_since = 0, None
    site.note_sizes(group)


def _surplus(nodes: list[Node], count: int) -> list[Node]:
    """Those that aren't in service yet go first, then the oldest."""
    return sorted(nodes, key=lambda node: (node.where == "in service", node.instance.launched))[:count]


def _launch(site: Site, group: GroupState) -> bool:
    """Whether AWS had an instance to give."""
    if site.refused.get(group.name, 0) > site.now:
        _refuse(site, group)
        return False
    market = _market(group)
    group.launched += 1
    instance = Instance(
        id=_identity(site.seed, group.name, group.launched),
        group=group.name,
        type=_type(site, group, market),
        market=market,
        zone=group.group.zone,
        launched=site.now,
        manifest=group.group.manifest,
    )
    node = Node(instance, site.fleet.real(group.name), phase_since=site.now)
    _meet(site, group, node)
    group.nodes.append(node)
    site.tell("launch", f"{instance.type} {market} in {instance.zone}", group.name, node.id)
    boots.begin(site, group, node)
    return True


def _meet(site: Site, group: GroupState, node: Node) -> None:
    """What awaits the group's next nodes hits this one."""
    left = []
    for coming in site.coming.pop(group.name, ()):
        if coming.until > site.now and coming.nodes > 0:
            node.ails[coming.kind] = coming.until
            site.blamed[node.id] = (coming.fault, coming.until)
            site.fleet.strike(node.instance, site.now, coming.kind, coming.until - site.now)
            left.append(replace(coming, nodes=coming.nodes - 1))
    if left:
        site.coming[group.name] = left


def _identity(seed: int, group: str, number: int) -> str:
    drawn = blake2b(f"{seed}/{group}/{number}".encode(), digest_size=8).hexdigest()
    return f"i-0{drawn}"


def _market(group: GroupState) -> Market:
    """The first `on_demand_base` nodes and the given share of the others are on demand, rounded up."""
    if group.group.reservation is not None:
        return "capacity-block"
    here = group.counted()
    regular = sum(node.instance.market == "on-demand" for node in here)
    base = group.group.on_demand_base
    beyond = max(0, len(here) + 1 - base)
    wanted = min(len(here) + 1, base) + -(-beyond * group.group.on_demand_percent // 100)
    return "on-demand" if regular < wanted else "spot"


def _type(site: Site, group: GroupState, market: Market) -> str:
    types = group.group.types
    if market != "spot":
        return types[0]
    for kind in types[:-1]:
        if chance(site.seed, "type", group.name, site.now, kind) < _FIRST_CHOICE:
            return kind
    return types[-1]


def _refuse(site: Site, group: GroupState) -> None:
    """A failed activity; the next attempt comes later and later, and after a day AWS gives up."""
    group.refused_since = site.now if group.refused_since is None else group.refused_since
    waited = site.now - group.refused_since
    if waited >= GIVES_UP_S:
        group.suspended.add("Launch")
        site.tell("suspended", "AWS suspended Launch: nothing could be launched for a day", group.name)
        return
    if group.retry_due:
        return
    group.retry_s = min(RETRY_MOST_S, 2 * group.retry_s) if group.retry_s else RETRY_FIRST_S
    says = f"AWS has none to give (InsufficientInstanceCapacity); tried again in {group.retry_s} s"
    site.tell("no-capacity", says, group.name)
    group.retry_due = True
    site.queue.after(group.retry_s, _retry, site, group)


def _retry(site: Site, group: GroupState) -> None:
    group.retry_due = False
    settle(site, group)

"""What each kind of fault does to the site when its time has come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nightshift.rehearsal.control import boots, ends, jobs
from nightshift.rehearsal.control.site import Coming, Site
from nightshift.rehearsal.control.state import GroupState, Node
from nightshift.rehearsal.faults import words
from nightshift.rehearsal.faults.place import Strike
from nightshift.rehearsal.faults.table import KINDS, SLOW_DETACH_S, WORDS

_EVERY_NODE = 1_000_000
_MOMENT_S = 600
"""What follows from a fault of a moment follows so soon."""


@dataclass(eq=False)
class Struck:
    """A fault that came to its time. `at` None: there was nothing to hit. `says`: an operator's verb."""

    strike: Strike
    at: int | None = None
    node: Node | None = None
    says: str = ""


def plan(site: Site, strikes: tuple[Strike, ...]) -> tuple[Struck, ...]:
    """Each fault at its time."""
    found = tuple(Struck(strike) for strike in strikes)
    for struck in found:
        site.queue.at(struck.strike.at, _strike, site, struck)
    return found


def _strike(site: Site, struck: Struck) -> None:
    strike, group = struck.strike, site.groups[struck.strike.group]
    kind = KINDS[strike.kind]
    node = _target(site, group, strike.kind)
    if kind.hits in ("node", "spot node") and node is None and not _can_wait(strike.kind):
        site.tell("fault", f"{kind.what}: there is no node to hit", group.name, fault=strike.name)
        return
    struck.at, struck.node = site.now, node
    site.tell("fault", kind.what, group.name, node.id if node else None, strike.name)
    _blame(site, group, struck)
    site.watch.struck(site, group, strike.kind, site.now + kind.lasts_s)
    _ACTS.get(strike.kind, _ail)(site, group, struck)
    if kind.lasts_s:
        site.queue.after(kind.lasts_s, _over, site, struck)


def _blame(site: Site, group: GroupState, struck: Struck) -> None:
    """What happens to the node, or to the group where no node is hit, comes from this fault for a while."""
    lasts_s = KINDS[struck.strike.kind].lasts_s or _MOMENT_S
    key = struck.node.id if struck.node is not None else group.name
    site.blamed[key] = (struck.strike.name, site.now + lasts_s)


def _over(site: Site, struck: Struck) -> None:
    strike = struck.strike
    site.tell("healed", f"over: {KINDS[strike.kind].what}", strike.group, fault=strike.name)


def _can_wait(kind: str) -> bool:
    """Whether a fault of a node waits for the next one."""
    return KINDS[kind].hits == "node" and kind not in ("crash", "kill-agent", "clock-jump")


def _target(site: Site, group: GroupState, kind: str) -> Node | None:
    """The oldest node that it can hit; those in service first."""
    hits = KINDS[kind].hits
    if hits not in ("node", "spot node"):
        return None
    found = [
        node
        for node in group.nodes
        if (hits == "node" or node.instance.market == "spot") and not node.noticed
    ]
    return min(found, key=lambda node: (node.where != "in service", node.instance.launched), default=None)


def _spot(site: Site, group: GroupState, struck: Struck) -> None:
    assert struck.node is not None
    ends.notice(site, group, struck.node, struck.strike.name)


def _spot_now(site: Site, group: GroupState, struck: Struck) -> None:
    assert struck.node is not None
    ends.kill(site, group, struck.node, "interrupted", "taken back by AWS without a notice")


def _crash(site: Site, group: GroupState, struck: Struck) -> None:
    assert struck.node is not None
    ends.kill(site, group, struck.node, "failed", "its machine died")


def _ice(site: Site, group: GroupState, struck: Struck) -> None:
    until = site.now + KINDS["ice"].lasts_s
    site.refused[group.name] = max(until, site.refused.get(group.name, 0))


def _coming(site: Site, group: GroupState, struck: Struck, kind: str, nodes: int) -> None:
    until = site.now + KINDS[struck.strike.kind].lasts_s
    coming = Coming(kind, until, nodes, struck.strike.name)
    site.coming.setdefault(group.name, []).append(coming)


def _bad_node(site: Site, group: GroupState, struck: Struck) -> None:
    _coming(site, group, struck, "boot-fails", 1)


def _boot_fails(site: Site, group: GroupState, struck: Struck) -> None:
    _coming(site, group, struck, "boot-fails", _EVERY_NODE)


def _slow_detach(site: Site, group: GroupState, struck: Struck) -> None:
    wanted = {volume.name for volume in group.group.manifest.volumes}
    for name in sorted(wanted):
        for state in site.named.get(name, ()):
            state.slow_until = site.now + SLOW_DETACH_S


def _missed(site: Site, group: GroupState, struck: Struck) -> None:
    site.missing.append((group.name, site.now, struck.strike.name))


def _ail(site: Site, group: GroupState, struck: Struck) -> None:
    """The node has it for a while, or the next one does."""
    kind = struck.strike.kind
    lasts_s = KINDS[kind].lasts_s
    if struck.node is None:
        _coming(site, group, struck, kind, 1)
    else:
        struck.node.ails[kind] = site.now + lasts_s
        site.fleet.strike(struck.node.instance, site.now, kind, lasts_s)


def _kill_agent(site: Site, group: GroupState, struck: Struck) -> None:
    """systemd starts it again: it ends what is left of the job, boots as ever, goes on from the last save."""
    node = struck.node
    assert node is not None
    _ail(site, group, struck)
    if node.where == "in service" and not node.draining:
        jobs.account(site, group, node, jobs.stop(site, group, node), None, planned=False)
        site.queue.after(KINDS["kill-agent"].lasts_s, boots.begin_again, site, group, node)


def _word(site: Site, group: GroupState, struck: Struck) -> None:
    struck.says = words.say(site, group, struck.strike.kind)


_ACTS: Mapping[str, Callable[[Site, GroupState, Struck], None]] = {
    "spot": _spot,
    "spot-now": _spot_now,
    "crash": _crash,
    "ice": _ice,
    "bad-node": _bad_node,
    "boot-fails": _boot_fails,
    "slow-detach": _slow_detach,
    "missed-action": _missed,
    "kill-agent": _kill_agent,
    **dict.fromkeys(WORDS, _word),
}

"""How each fault ended, told from the site's events after it, and whether its kind may end so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.expect import Expect, GroupExpect
from nightshift.rehearsal.faults.strike import Struck
from nightshift.rehearsal.faults.table import KINDS
from nightshift.rehearsal.invariants.spans import Span, around, upcoming
from nightshift.rehearsal.story import Event, FaultEnd

_PATIENCE_S = 3_600
"""Beyond a boot's longest time: a claim's wait, retries, health checks."""


_UNMET = {
    "bad-node": ("boot-failed", "no node booted meanwhile"),
    "boot-fails": ("boot-failed", "no node booted meanwhile"),
    "slow-detach": ("launch", "no node asked for the volumes meanwhile"),
}
"""Faults that wait for something which may not come: the event that shows it, and what to say without it."""


@dataclass(frozen=True)
class _After:
    """What came after a fault: its group's events up to the end of the shift that it fell into."""

    struck: int
    shift: Span | None
    events: tuple[Event, ...]

    def first(self, *kinds: str, since: int = 0) -> Event | None:
        """The first event of such a kind."""
        return next((one for one in self.events if one.kind in kinds and one.at >= since), None)


def endings(site: Site, expected: Expect, struck: Iterable[Struck]) -> tuple[FaultEnd, ...]:
    """Every fault's end, in the order of being struck."""
    return tuple(_ending(site, expected, one) for one in struck)


def _ending(site: Site, expected: Expect, one: Struck) -> FaultEnd:
    strike, kind = one.strike, KINDS[one.strike.kind]
    if one.at is None:
        return FaultEnd(strike.name, kind.what, None, strike.group, "there was nothing to hit", 0, 0, True)
    group = expected.groups[strike.group]
    after = _after(site, group, one.at)
    ended, ok = _tell(site, group, one, after)
    lost = _steps_lost(site, one)
    minutes = _minutes_lost(site, group, one, after)
    return FaultEnd(strike.name, kind.what, one.at, strike.group, ended, lost, minutes, ok)


def _after(site: Site, group: GroupExpect, at: int) -> _After:
    shift = around(group.windows, at) or upcoming(group.windows, at)
    until = shift[1] + group.drain_s + _PATIENCE_S if shift else site.end
    mine = [one for one in site.events if one.group == group.name and at <= one.at <= until]
    return _After(at, shift, tuple(mine))


def _tell(site: Site, group: GroupExpect, one: Struck, after: _After) -> tuple[str, bool]:
    if one.strike.kind == "missed-action":
        return _missed(one, after)
    stopped = after.first("policy")
    if stopped is not None:
        return f"{stopped.says}; the next shift begins anew", True
    if one.strike.kind == "ice":
        return _waited(one, after)
    if one.strike.kind in _UNMET and after.first(_UNMET[one.strike.kind][0]) is None:
        return _UNMET[one.strike.kind][1], True
    hit = one.node is not None and one.node.ended is not None and one.node.how not in ("drained", "alive")
    if KINDS[one.strike.kind].hits == "node" and one.node is not None and not hit:
        return "the node went on", True
    return _replaced(site, group, after, one.node is not None)


def _missed(one: Struck, after: _After) -> tuple[str, bool]:
    lost = next(
        (event for event in after.events if event.fault == one.strike.name and event.kind == "missed"), None
    )
    if lost is None:
        return "no action was due any more", True
    guard = after.first("drain", since=lost.at)
    if lost.says.startswith("down"):
        return (f"{lost.says}; the node went by itself" if guard else f"{lost.says}; no node was there"), True
    return f"{lost.says}; the shift didn't begin, nothing was billed", True


def _waited(one: Struck, after: _After) -> tuple[str, bool]:
    refused = after.first("no-capacity")
    if refused is None:
        return "nobody asked for an instance meanwhile", True
    launched = after.first("launch", since=refused.at)
    if launched is None:
        return "the shift was over before there was capacity", True
    return f"launched after {(launched.at - refused.at) // 60} minutes of waiting", True


def _replaced(site: Site, group: GroupExpect, after: _After, had_one: bool) -> tuple[str, bool]:
    ready = after.first("ready")
    if ready is not None:
        return f"a node was in service {(ready.at - after.struck) // 60} minutes later", True
    left = (after.shift[1] if after.shift else after.struck) - after.struck
    if left <= group.boot_s + _PATIENCE_S or site.end - after.struck <= group.boot_s + _PATIENCE_S:
        return "the shift was over before another node was ready", True
    if after.first("no-capacity", "suspended", "missed", "finished"):
        return "no node came back in this shift, for another reason", True
    if after.first("launch", "boot-failed") is None:
        return "nothing was launched in this shift", not had_one
    return "no node was in service any more in this shift", False


def _steps_lost(site: Site, one: Struck) -> int:
    """What the node's own stop cost; a fault that lies on no node costs none by itself."""
    if one.at is None or one.node is None:
        return 0
    return sum(
        stop.lost
        for stop in site.groups[one.strike.group].job.stops
        if one.at <= stop.at <= one.at + max(300, KINDS[one.strike.kind].lasts_s)
    )


def _minutes_lost(site: Site, group: GroupExpect, one: Struck, after: _After) -> int:
    """From the fault, or the shift's start, until a node was in service, if none was meanwhile."""
    if after.shift is None or one.at is None:
        return 0
    begun = max(one.at, after.shift[0])
    end = min(after.shift[1], site.end)
    gone = next((at for at, here in _service(site, group, begun, end) if here < group.nodes), None)
    if gone is None:
        return 0
    back = next(
        (at for at, here in _service(site, group, begun, end) if here >= group.nodes and at > gone), end
    )
    return max(0, back - gone) // 60


def _service(site: Site, group: GroupExpect, low: int, high: int) -> Sequence[tuple[int, int]]:
    """(instant, nodes in service from then on) within [low, high)."""
    changes: dict[int, int] = {low: 0}
    for node in site.groups[group.name].all_nodes():
        if node.ready_at is not None and node.ready_at < high and (node.ended or high) > low:
            changes[max(low, node.ready_at)] = changes.get(max(low, node.ready_at), 0) + 1
            if node.ended is not None and node.ended < high:
                changes[node.ended] = changes.get(node.ended, 0) - 1
    count, found = 0, []
    for at in sorted(changes):
        count += changes[at]
        found.append((at, count))
    return found

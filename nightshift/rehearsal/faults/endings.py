"""How each fault ended, told from the site's events after it, and whether its kind may end so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.control.state import Node, Stop
from nightshift.rehearsal.expect import Expect, GroupExpect
from nightshift.rehearsal.faults.stopped import stopped_says
from nightshift.rehearsal.faults.strike import Struck
from nightshift.rehearsal.faults.table import KINDS, WORDS
from nightshift.rehearsal.invariants.spans import Span, around, upcoming
from nightshift.rehearsal.report.words import length
from nightshift.rehearsal.story import Event, FaultEnd

_PATIENCE_S = 3_600
"""Beyond a boot's longest time: a claim's wait, retries, health checks."""


_UNMET = {
    "bad-node": ("boot-failed", "no node booted meanwhile"),
    "boot-fails": ("boot-failed", "no node booted meanwhile"),
    "slow-detach": ("launch", "no node asked for the volumes meanwhile"),
}
"""Faults that wait for something which may not come: the event that shows it, and what to say without it."""


_COSTS_STEPS = ("spot", "spot-now", "crash", "kill-agent", "disk-full", "network-split", "imds-lost")
_FOLLOWS_S = 300
"""The stop of a job that a fault of a moment causes comes so soon."""


@dataclass(frozen=True)
class _After:
    """What came after a fault: its group's events up to the end of the shift that it fell into."""

    struck: int
    shift: Span | None
    events: tuple[Event, ...]

    def first(self, *kinds: str, since: int = 0) -> Event | None:
        """The first event of such a kind."""
        return next((one for one in self.events if one.kind in kinds and one.at >= since), None)


@dataclass(frozen=True)
class _Told:
    """How it ended in a sentence, whether it may end so, and whether the group was without a node for it."""

    says: str
    ok: bool = True
    without_s: int = 0


def endings(site: Site, expected: Expect, struck: Sequence[Struck]) -> tuple[FaultEnd, ...]:
    """Every fault's end, in the order of being struck."""
    costs = _losses(site, struck)
    return tuple(_ending(site, expected, one, lost) for one, lost in zip(struck, costs, strict=True))


def _ending(site: Site, expected: Expect, one: Struck, lost: int) -> FaultEnd:
    strike, kind = one.strike, KINDS[one.strike.kind]
    if one.at is None:
        return FaultEnd(
            strike.name, kind.what, None, strike.group, "there was nothing to hit", 0, 0, True, kind.ends
        )
    group = expected.groups[strike.group]
    told = _tell(site, group, one, _after(site, group, one.at))
    return FaultEnd(
        strike.name,
        kind.what,
        one.at,
        strike.group,
        told.says,
        lost,
        round(told.without_s / 60),
        told.ok,
        kind.ends,
    )


def _after(site: Site, group: GroupExpect, at: int) -> _After:
    shift = around(group.windows, at) or upcoming(group.windows, at)
    until = min(site.end, shift[1] + group.drain_s + _PATIENCE_S if shift else site.end)
    mine = [one for one in site.events if one.group == group.name and at <= one.at <= until]
    return _After(at, shift, tuple(mine))


def _tell(site: Site, group: GroupExpect, one: Struck, after: _After) -> _Told:
    kind = one.strike.kind
    if kind in WORDS:
        return _Told(one.says)
    if kind == "missed-action":
        return _missed(site, group, one, after)
    if kind in _UNMET and after.first(_UNMET[kind][0]) is None:
        return _Told(_UNMET[kind][1])
    if one.node is not None and not _hit(site, one, one.node, after.shift):
        return _Told("the node went on", True, _late(one.node, after))
    without = _without(site, group, after)
    stopped = after.first("policy")
    if stopped is not None:
        return _Told(stopped_says(site, group, after.events, stopped, without), True, without)
    if kind == "ice":
        return _waited(after, without)
    return _replaced(site, group, after, one.node is not None, without)


def _hit(site: Site, one: Struck, node: Node, shift: tuple[int, int] | None) -> bool:
    """Whether it ended otherwise than by a drain, in its shift or while the fault still had a hand in it."""
    if node.ended is None or node.ended >= site.end or node.how == "drained":
        return False
    served = shift is not None and node.ended >= shift[1]
    return not served or node.ended <= (one.at or 0) + _reach_s(one)


def _late(node: Node, after: _After) -> int:
    """Seconds of its shift in which a node that was hit while it booted wasn't ready."""
    begun = max(after.struck, after.shift[0] if after.shift else after.struck)
    return max(0, node.ready_at - begun) if node.ready_at is not None else 0


def _missed(site: Site, group: GroupExpect, one: Struck, after: _After) -> _Told:
    mine = (event for event in after.events if event.fault == one.strike.name and event.kind == "missed")
    lost = next(mine, None)
    if lost is None:
        return _Told("no action was due any more")
    if lost.says.startswith("up"):
        says = f"{lost.says}; the shift didn't begin, nothing was billed"
        return _Told(says, True, _without(site, group, after))
    guard = after.first("drain", since=lost.at)
    return _Told(f"{lost.says}; the node went by itself" if guard else f"{lost.says}; no node was there")


def _waited(after: _After, without: int) -> _Told:
    refused = after.first("no-capacity")
    if refused is None:
        return _Told("nobody asked for an instance meanwhile")
    launched = after.first("launch", since=refused.at)
    if launched is None:
        return _Told("the shift was over before there was capacity", True, without)
    waited = length(launched.at - refused.at)
    return _Told(f"launched after {waited} of waiting, which cost nothing", True, without)


def _replaced(site: Site, group: GroupExpect, after: _After, had_one: bool, without: int) -> _Told:
    ready = after.first("ready")
    if ready is not None:
        return _Told(_back_in(ready.at - after.struck, without), True, without)
    end = min(site.end, after.shift[1] if after.shift else site.end)
    if end - after.struck <= group.boot_s + _PATIENCE_S:
        return _Told("the shift was over before another node was ready", True, without)
    if after.first("no-capacity", "suspended", "missed", "finished"):
        return _Told("no node came back in this shift, for another reason", True, without)
    if after.first("launch", "boot-failed") is None:
        return _Told("nothing was launched in this shift", not had_one, without if had_one else 0)
    return _Told("no node was in service any more in this shift", False, without)


def _back_in(seconds: int, without: int) -> str:
    """Since the fault, of which a node that hears of its end serves on for a while, and how long none did."""
    minutes = round(without / 60)
    lacked = f"; the shift was without its nodes for {length(60 * minutes)}" if minutes else ""
    return f"a node was in service {length(seconds)} after the fault{lacked}"


def _losses(site: Site, struck: Sequence[Struck]) -> list[int]:
    """What the stop of each fault's job cost; a stop that two faults may have caused is the later one's."""
    costs, taken = [0] * len(struck), set[tuple[str, int]]()
    for number in sorted(range(len(struck)), key=lambda at: struck[at].at or 0, reverse=True):
        one = struck[number]
        stops = site.groups[one.strike.group].job.stops
        mine = {(one.strike.group, at) for at, stop in enumerate(stops) if _caused(one, stop)} - taken
        costs[number] = sum(stops[at].lost for _, at in mine)
        taken |= mine
    return costs


def _reach_s(one: Struck) -> float:
    """How long after it struck a fault has consequences of its own."""
    return max(_FOLLOWS_S, KINDS[one.strike.kind].lasts_s)


def _caused(one: Struck, stop: Stop) -> bool:
    if one.at is None or one.node is None or one.strike.kind not in _COSTS_STEPS:
        return False
    until = one.at + _reach_s(one)
    return one.at <= stop.at <= until and stop.node == one.node.id


def _without(site: Site, group: GroupExpect, after: _After) -> int:
    """Seconds of the shift, from the fault on, until as many nodes as wanted were in service again."""
    if after.shift is None:
        return 0
    low, high = max(after.struck, after.shift[0]), min(after.shift[1], site.end)
    counts = list(_service(site, group, low, high))
    gone = next((at for at, here in counts if here < group.nodes), None)
    if gone is None:
        return 0
    back = next((at for at, here in counts if here >= group.nodes and at > gone), high)
    return max(0, back - gone)


def _service(site: Site, group: GroupExpect, low: int, high: int) -> Iterator[tuple[int, int]]:
    """(instant, nodes in service from then on) within [low, high)."""
    changes = Counter({low: 0})
    for node in site.groups[group.name].all_nodes():
        if node.ready_at is not None and node.ready_at < high and (node.ended or high) > low:
            changes[max(low, node.ready_at)] += 1
            if node.ended is not None and node.ended < high:
                changes[node.ended] -= 1
    count = 0
    for at in sorted(changes):
        count += changes[at]
        yield at, count

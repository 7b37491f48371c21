"""What becomes of the lease, and what a node does about it. Pure: plain values in, plain values out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bootstrap.launch.board import LeaseSeen, MemberSeen
from bootstrap.launch.edges import Waits
from bootstrap.launch.lease import Kind, Lease, Member

Act = Literal["wait", "launch", "end", "regroup", "over"]


@dataclass(frozen=True)
class Timers:
    """How long (s) things have stood as they stand, by the leader's own clock."""

    gathering: float = 0.0
    trouble: float = 0.0
    joiners: float = 0.0
    regrouping: float = 0.0


@dataclass(frozen=True)
class Group:
    """What doesn't change while a node is up. `gather_s`: how long a shift's first generation waits."""

    nodes: int
    gather_s: float
    waits: Waits


def claim(seen: LeaseSeen, me: Member, group: Group, unbroken_s: float) -> Lease | None:
    """The lease that `me` should try to write, when the one that stands there is nobody's.

    A node's own lease, from before its agent was started again, is its own again at once. `unbroken_s`: for
    how long this node has reached the board without a gap. After an outage of the board every record is
    old, so a node with something to lose gives the others time to renew theirs.
    """
    old = seen.lease
    if me.leaving or (old is not None and _just_finished(old, me, seen.age_s, group)):
        return None
    if old is None:
        return _first(None, me)
    free = old.state == "over" or old.leader in ("", me.instance)
    patient = me.ready or unbroken_s > group.waits.lease_s
    if not free and not (patient and seen.age_s > group.waits.lease_s):
        return None
    if old.run != me.run or old.state == "over" or seen.age_s > group.waits.new_start_s:
        return _first(old, me)
    mine = replace(old, leader=me.instance, token=me.token)
    if not old.leader:
        return mine
    return _next(replace(mine, reason=f"the leader {old.leader} was lost"), best=old.best)


def _just_finished(old: Lease, me: Member, age_s: float, group: Group) -> bool:
    """A node that comes when its group has done the whole run has nothing to begin."""
    return old.run == me.run and old.kind == "finished" and age_s <= group.waits.new_start_s


def _first(old: Lease | None, me: Member) -> Lease:
    """Numbers go on across shifts, so that no id is ever used twice."""
    number = old.generation + 1 if old is not None else 1
    return Lease(me.instance, me.token, me.run, number, "gathering")


def _next(lease: Lease, *, best: int) -> Lease:
    """The number goes up also while gathering, since a generation may have been launched unseen."""
    return replace(lease, generation=lease.generation + 1, state="gathering", regroup=False, best=best)


def given_up(lease: Lease) -> Lease:
    """What a leader that takes part no more leaves behind: anyone may go on from there at once.

    The generation stands: others may still be saving it.
    """
    return replace(lease, leader="", token="")


def lead(lease: Lease, seen: Sequence[MemberSeen], me: Member, group: Group, timers: Timers) -> Lease:
    """The lease as its holder should have it; the same one when nothing changes. A generation that all nodes
    are ready for begins at once. Needs a port when it's launched: 0 stands in it."""
    alive = [each for each in seen if _alive(each, lease, group)]
    if lease.state == "gathering":
        return _gathered(lease, alive, me, group, timers)
    if lease.state == "over":
        return lease
    after = _kept(lease, seen, group, timers)
    fresh = Timers()
    return _gathered(after, alive, me, group, fresh) if after.state == "gathering" else after


def _alive(seen: MemberSeen, lease: Lease, group: Group) -> bool:
    return seen.age_s <= group.waits.lease_s and seen.member.run == lease.run


def _counts(seen: MemberSeen, lease: Lease, group: Group) -> bool:
    """Whether it lives, or said its last word before it left: others that drain with it may still save."""
    member = seen.member
    said = member.leaving and member.last == lease.generation and member.verdict is not None
    return _alive(seen, lease, group) or (said and member.run == lease.run)


def _gathered(lease: Lease, alive: Sequence[MemberSeen], me: Member, group: Group, timers: Timers) -> Lease:
    """Who lives is waited for; who has missed two beats has been hit too, most likely, and may join later."""
    staying = [each for each in alive if not each.member.leaving]
    ready = [each.member for each in staying if each.member.ready]
    if me.key not in {each.key for each in ready}:
        return lease
    fresh_s = 2 * group.waits.beat_s + 1
    coming = [each for each in staying if not each.member.ready and each.age_s <= fresh_s]
    if coming and timers.gathering < group.waits.ready_s:
        return lease
    first = not lease.members
    if first and len(ready) < group.nodes and timers.gathering < group.gather_s:
        return lease
    name = f"{lease.run}-{lease.generation}-{lease.token}"
    keys = tuple(sorted(each.key for each in ready))
    return replace(lease, state="running", id=name, address=me.address, port=0, members=keys)


def _kept(lease: Lease, seen: Sequence[MemberSeen], group: Group, timers: Timers) -> Lease:
    """Of a running generation: over, mended by the next one, ended for the sake of late nodes, or kept."""
    inside = [
        each.member for each in seen if each.member.key in lease.members and _counts(each, lease, group)
    ]
    ended = [each for each in inside if each.last == lease.generation and each.verdict]
    finished = next((each for each in ended if each.verdict == "finished"), None)
    if finished is not None:
        return _over(lease, "finished", finished.reason, finished)
    gone = sorted(set(lease.members) - {each.key for each in inside})
    if gone or ended:
        return _after_trouble(lease, inside, ended, gone, group, timers)
    if lease.regroup:
        late = timers.regrouping > group.waits.regroup_s
        return _next(lease, best=_best(lease, inside)) if late else lease
    late = joiners(lease, seen, group)
    whole = len(lease.members) + len(late) >= group.nodes
    if late and (whole or timers.joiners > group.waits.settle_s):
        return replace(lease, regroup=True)
    return lease


def _after_trouble(
    lease: Lease,
    inside: Sequence[Member],
    ended: Sequence[Member],
    gone: Sequence[str],
    group: Group,
    timers: Timers,
) -> Lease:
    soft = bool(ended) and all(each.verdict == "drained" for each in ended)
    still = len(ended) < len(inside)
    saving = soft and any(each.agreed for each in ended)
    patience = group.waits.regroup_s if saving else group.waits.mourn_s
    if still and timers.trouble < patience:
        return lease
    after = _next(lease, best=_best(lease, inside))
    reason = "; ".join([*(f"{key.split('/')[0]} was lost" for key in gone), *_reasons(ended)])
    if soft and not gone:
        return replace(after, reason=reason)
    barren = 0 if after.best > lease.best else lease.barren + 1
    after = replace(after, barren=barren, reason=reason)
    if barren <= group.waits.restarts:
        return after
    kind: Kind = "failed" if any(each.verdict == "failed" for each in ended) else "lost"
    furthest = max(inside, key=_step, default=None)
    return _over(after, kind, f"{barren} launches in a row reached no new step; the last: {reason}", furthest)


def _over(lease: Lease, kind: Kind, reason: str, at: Member | None) -> Lease:
    step, checkpoint = (at.step, at.checkpoint) if at else (None, None)
    return replace(lease, state="over", kind=kind, reason=reason, step=step, checkpoint=checkpoint)


def _reasons(ended: Sequence[Member]) -> list[str]:
    return [f"{each.instance}: {each.reason}" for each in ended if each.reason]


def _best(lease: Lease, inside: Sequence[Member]) -> int:
    return max([lease.best, *(_step(each) for each in inside)])


def _step(member: Member) -> int:
    return -1 if member.step is None else member.step


def troubled(lease: Lease, seen: Sequence[MemberSeen], group: Group) -> bool:
    """Whether a running generation isn't whole any more."""
    whole = {
        each.member.key
        for each in seen
        if _alive(each, lease, group) and not (each.member.last == lease.generation and each.member.verdict)
    }
    return lease.state == "running" and not set(lease.members) <= whole


def joiners(lease: Lease, seen: Sequence[MemberSeen], group: Group) -> tuple[str, ...]:
    """Nodes that could take part and don't."""
    if lease.state != "running":
        return ()
    return tuple(
        each.member.key
        for each in seen
        if _alive(each, lease, group)
        and each.member.ready
        and not each.member.leaving
        and each.member.key not in lease.members
    )


def react(lease: Lease, me: Member, running: int) -> Act:
    """What this node does now. `running`: the generation whose processes run here, 0 for none."""
    if lease.run != me.run:
        return "wait"
    if lease.state == "over":
        return "over"
    if running:
        if running != lease.generation:
            return "end"
        return "regroup" if lease.regroup else "wait"
    mine = lease.state == "running" and me.key in lease.members and lease.generation > me.last
    return "launch" if mine and not me.leaving else "wait"

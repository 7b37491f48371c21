"""Keeps this node's word on the board and the lease in view, on a thread of its own.

The board may be slow or gone: whoever watches the job never waits for it, and a running generation goes on.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bootstrap.launch import generations
from bootstrap.launch.board import Board, Conflict, LeaseSeen, MemberSeen, Unreachable
from bootstrap.launch.generations import Group, Timers
from bootstrap.launch.lease import Lease, Member

Say = Callable[[str], None]


@dataclass
class _Since:
    """When each condition began to hold, by name."""

    now: Callable[[], float]
    began: dict[str, float] = field(default_factory=dict)

    def lasts(self, name: str, holds: bool) -> float:
        """Seconds for which it has held without a gap; 0 when it doesn't hold."""
        if not holds:
            self.began.pop(name, None)
            return 0.0
        return self.now() - self.began.setdefault(name, self.now())


class Coordinator:
    """One node's part in its group. `me` is what the node says of itself; `lease` what stands."""

    def __init__(
        self,
        board: Board,
        me: Member,
        group: Group,
        port: Callable[[int], int],
        now: Callable[[], float],
        say: Say,
    ) -> None:
        self._board = board
        self._group = group
        self._port = port
        self._now = now
        self._say = say
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._me = me
        self._told: Member | None = None
        self._told_at = 0.0
        self._renewed_at = 0.0
        self._since = _Since(now)
        self._reached_at = now()
        self._reached = False
        self._took_part = False
        self._held: LeaseSeen | None = None
        self.lease: Lease | None = None
        self._thread = threading.Thread(target=self._run, name="nightshift-board", daemon=True)

    @property
    def me(self) -> Member:
        with self._lock:
            return self._me

    def start(self) -> None:
        self._thread.start()

    def tell(self, **changes: object) -> None:
        """Change what this node says of itself; it's written at once when that's something new."""
        with self._lock:
            before = self._me
            self._me = replace(before, **changes)
            changed = self._me != before
        if changed:
            self._wake.set()

    def wake(self) -> None:
        """Look at the board now."""
        self._wake.set()

    def unreached_s(self) -> float:
        """Seconds since the board last answered."""
        return self._now() - self._reached_at

    def stop(self, limit_s: float) -> None:
        """Say the last word and end; a board that doesn't answer is left after `limit_s`."""
        self._stop.set()
        self._wake.set()
        self._thread.join(limit_s)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._step_safely()
            self._wake.wait(self._pause())
            self._wake.clear()
        self._step_safely()
        self._hand_over()

    def _pause(self) -> float:
        lease, waits = self.lease, self._group.waits
        steady = lease is not None and lease.state == "running" and not self.me.ready
        return waits.poll_s if steady else waits.wake_s

    def _step_safely(self) -> None:
        try:
            self.step()
        except Unreachable as error:
            if self._reached:
                self._say(f"the group's board can't be reached, the job goes on: {error}")
            self._reached = False
            self._since.lasts("reached", False)
        except Exception as error:
            # a thread that died here would leave the node without a group, and nobody would know
            traceback.print_exc()
            self._say(f"the agent's part in its group failed, tried again: {error!r}")

    def step(self) -> None:
        """One look at the board, and what follows from it. Raises Unreachable."""
        me = self.me
        self._tell_board(me)
        seen = self._held or self._board.lease()
        self._mark_reached()
        if seen.lease is not None and self._is_mine(seen.lease):
            self._lead(seen, me)
        else:
            self._follow(seen, me)

    def _mark_reached(self) -> None:
        if not self._reached and self._since.began:
            self._say("the group's board answers again")
        self._reached, self._reached_at = True, self._now()

    def _tell_board(self, me: Member) -> None:
        if me == self._told and self._now() - self._told_at < self._group.waits.beat_s:
            return
        self._board.write_member(me)
        self._told, self._told_at = me, self._now()

    def _is_mine(self, lease: Lease) -> bool:
        return (lease.leader, lease.token) == (self.me.instance, self.me.token)

    def _follow(self, seen: LeaseSeen, me: Member) -> None:
        unbroken = self._since.lasts("reached", True)
        over = seen.lease is not None and seen.lease.state == "over"
        wanted = None if over and self._took_part else generations.claim(seen, me, self._group, unbroken)
        if wanted is None:
            self._show(seen.lease)
        elif self._write(wanted, seen.etag):
            self._say(f"this node leads; generation {wanted.generation} gathers")
            self._wake.set()

    def _lead(self, seen: LeaseSeen, me: Member) -> None:
        lease = seen.lease
        assert lease is not None
        members = self._board.members()
        wanted = generations.lead(lease, members, me, self._group, self._timers(lease, members))
        if wanted.state == "running" and not wanted.port:
            wanted = replace(wanted, port=self._port(wanted.generation))
        due = self._now() - self._renewed_at >= self._group.waits.beat_s
        if wanted == lease and not due:
            self._show(lease)
        elif self._write(wanted, seen.etag) and wanted != lease:
            self._say(_said(wanted))
            self._wake.set()

    def _timers(self, lease: Lease, members: list[MemberSeen]) -> Timers:
        number = lease.generation
        troubled = generations.troubled(lease, members, self._group)
        late = generations.joiners(lease, members, self._group)
        timers = Timers(
            gathering=self._since.lasts(f"gathering {number}", lease.state == "gathering"),
            trouble=self._since.lasts(f"trouble {number}", troubled),
            joiners=self._since.lasts(f"joiners {number} {late}", bool(late)),
            regrouping=self._since.lasts(f"regroup {number}", lease.regroup),
        )
        stale = [name for name in self._since.began if name != "reached" and f" {number}" not in name]
        for name in stale:
            self._since.lasts(name, False)
        return timers

    def _write(self, lease: Lease, etag: str | None) -> bool:
        """Whether it stands now. A holder reads nothing: who takes it away makes the next write fail."""
        self._held = None
        try:
            etag = self._board.write_lease(lease, etag)
        except Conflict:
            self._wake.set()
            return False
        self._held = LeaseSeen(lease, etag, 0.0)
        self._renewed_at = self._now()
        self._show(lease)
        return True

    def _show(self, lease: Lease | None) -> None:
        if lease is not None and lease.state != "over" and lease.run == self.me.run:
            self._took_part = True
        self.lease = lease

    def _hand_over(self) -> None:
        """Others needn't wait for the lease to grow old."""
        try:
            seen = self._board.lease()
            if seen.lease is not None and self._is_mine(seen.lease) and seen.lease.state != "over":
                self._board.write_lease(generations.given_up(seen.lease), seen.etag)
        except (Unreachable, Conflict) as error:
            self._say(f"the lease wasn't handed over: {error}")


def _said(lease: Lease) -> str:
    words = f"generation {lease.generation} "
    if lease.state == "gathering":
        return f"{words}gathers: {lease.reason}"
    if lease.state == "over":
        return f"{words}was the last: {lease.kind}, {lease.reason}"
    if lease.regroup:
        return f"{words}ends so that late nodes can join"
    names = ", ".join(key.split("/")[0] for key in lease.members)
    return f"{words}begins on {names}"

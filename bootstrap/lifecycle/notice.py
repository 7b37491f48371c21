"""The word that this node ends: the first is the cause, later ones can only bring the date forward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["end", "spot", "stop", "again", "over", "finished", "failed", "idle", "cap"]
"""end: the group ends the node. spot: EC2 takes it back. stop: the unit was stopped. again: the job was
lost, so the node is examined anew. The others are the node's own decision: shift over, run finished or
failed for good, cards idle, GPU-hours used up."""
OWN = ("over", "finished", "failed", "idle", "cap")
"""Kinds after which the node tells its group that it goes, and that nobody shall take its place."""


@dataclass(frozen=True)
class Notice:
    """`deadline` is on the node's monotonic clock; None: as long as a planned drain may take."""

    kind: Kind
    reason: str
    deadline: float | None = None


class Interrupted(BaseException):
    """A notice came while something else was under way; not an Exception, so that nobody takes it for a
    failure of what they were doing."""

    def __init__(self, notice: Notice) -> None:
        super().__init__(notice.reason)
        self.notice = notice


class Inbox:
    """Notices of this node. Threads and signal handlers put; the agent's loop looks. Nothing here blocks."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._notices: list[Notice] = []

    def put(self, notice: Notice) -> None:
        """Said once for each kind; a repeated one with a later date, or none, changes nothing."""
        known = [each for each in self._notices if each.kind == notice.kind]
        if known and not _earlier(notice, self.by):
            return
        self._notices.append(notice)
        self._say(f"notice ({notice.kind}): {notice.reason}")

    @property
    def cause(self) -> Notice | None:
        """The first one."""
        return self._notices[0] if self._notices else None

    @property
    def by(self) -> float | None:
        """The earliest date of any, on the monotonic clock."""
        dates = [each.deadline for each in self._notices if each.deadline is not None]
        return min(dates, default=None)

    @property
    def kinds(self) -> frozenset[Kind]:
        """All that came."""
        return frozenset(each.kind for each in self._notices)

    def check(self) -> None:
        """Raises Interrupted once there is a notice."""
        if self._notices:
            raise Interrupted(self._notices[0])


def _earlier(notice: Notice, by: float | None) -> bool:
    return notice.deadline is not None and (by is None or notice.deadline < by)

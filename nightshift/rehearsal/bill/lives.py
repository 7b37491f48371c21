"""What AWS bills of each instance: from its launch to its end, by the second, a minute at least."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nightshift.rehearsal.control.state import GroupState

LEAST_S = 60
"""EC2 bills by the second with a minimum of one minute (EC2 pricing, per-second billing)."""


@dataclass(frozen=True)
class Life:
    """One instance within the rehearsed time."""

    group: str
    type: str
    market: str
    start: int
    end: int

    @property
    def seconds(self) -> int:
        """As it was there."""
        return self.end - self.start

    @property
    def billed_s(self) -> int:
        """As it is billed."""
        return max(LEAST_S, self.seconds)


def lives_of(group: GroupState, end: int) -> Iterator[Life]:
    """The group's instances; one that is still there is counted up to `end`."""
    for node in group.all_nodes():
        one = node.instance
        if one.launched < end:
            until = end if node.ended is None else min(node.ended, end)
            yield Life(group.name, one.type, one.market, one.launched, until)

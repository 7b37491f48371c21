"""No node is billed outside shift or override, plus boot and drain."""

from __future__ import annotations

from collections.abc import Sequence

from nightshift.rehearsal.control.timing import LATE_AT_MOST_S, LOOK_S
from nightshift.rehearsal.invariants.spans import Span, overlap

NAME = "billed-in-shift"
SAYS = "no node is billed outside its shift, or an operator's word, but for its boot and its drain"
HOOK_S = 120
"""The terminating hook's patience with a node that is dead (infra/node_group.py)."""
GUARD_S = 900
"""The node's own look comes ten minutes after an end without an action (bootstrap/lifecycle/guard.py)."""


def allowance(drain_s: int, extra_s: int = 0) -> int:
    """Seconds after a shift's end in which a node may still be billed."""
    return LATE_AT_MOST_S + LOOK_S + drain_s + HOOK_S + extra_s


def outside(life: Span, windows: Sequence[Span], after_s: int) -> int:
    """Seconds of a node's life that lie in no window and no allowance after one."""
    allowed: list[Span] = []
    for start, end in windows:
        if allowed and start <= allowed[-1][1]:
            allowed[-1] = (allowed[-1][0], end + after_s)
        else:
            allowed.append((start, end + after_s))
    return life[1] - life[0] - sum(overlap(life, span) for span in allowed)


def broken(group: str, node: str, life: Span, windows: Sequence[Span], after_s: int) -> str | None:
    """What is wrong with a node that lived so long."""
    seconds = outside(life, windows, after_s)
    if seconds <= 0:
        return None
    return (
        f"{node} of {group} was billed for {seconds} s outside its shifts, {after_s} s after one are allowed"
    )

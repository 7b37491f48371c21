"""When a shift had no node in service, and what it waited for: a boot, capacity, another node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nightshift.rehearsal.report.nights import Night
from nightshift.rehearsal.report.words import adding_up, length
from nightshift.rehearsal.story import NodeLife, Span

WORTH_S = 480
"""Less than this in a whole shift is a boot as it always is."""
_SHORT_S = 30


def without(night: Night, low: int, high: int) -> str:
    """`13 min without a node in service: ...`; nothing where it isn't worth a word, or none ever came.

    [low, high) is the rehearsed time.
    """
    span = (max(night.start, low), min(night.end, high))
    found = [gap for gap in _gaps(night.nodes, span) if gap[1] - gap[0] >= _SHORT_S]
    total = sum(end - start for start, end in found)
    if total < WORTH_S or not night.up_s:
        return ""
    minutes = adding_up([(end - start) / 60 for start, end in found], round(total / 60))
    told = [
        f"{length(60 * lasts)} {_says(night.nodes, gap, span)}"
        for gap, lasts in zip(found, minutes, strict=True)
    ]
    alone = told[0].removeprefix(f"{length(total)} ") if len(told) == 1 else "; ".join(told)
    return f"{length(total)} without a node in service: {alone}"


def _gaps(nodes: Sequence[NodeLife], span: Span) -> Iterator[Span]:
    """The parts of the span in which none served."""
    served = sorted(
        (one.start, one.end) for node in nodes for one in node.phases if one.phase in ("train", "save")
    )
    reached = span[0]
    for start, end in [*served, (span[1], span[1])]:
        if min(start, span[1]) > reached:
            yield reached, min(start, span[1])
        reached = max(reached, end)


def _says(nodes: Sequence[NodeLife], gap: Span, span: Span) -> str:
    served = next((one for one in nodes if _served(one, gap[1])), None)
    if served is None:
        return "at its end"
    boot = f"its node was launched after {length(served.launched - gap[0])} and booted for "
    booted = (
        f"{boot}{length(gap[1] - served.launched)}" if served.launched >= gap[0] else "its agent began anew"
    )
    if gap[0] == span[0]:
        return f"at its start, {booted}"
    before = max(
        (one for one in nodes if one.ended and one.ended <= gap[1]),
        key=lambda one: one.ended or 0,
        default=None,
    )
    after = f"after {before.id} {before.how}" if before and (before.ended or 0) >= gap[0] else "in between"
    return f"{after}, {booted}"


def _served(node: NodeLife, at: int) -> bool:
    """Whether its service began then."""
    return any(one.phase in ("train", "save") and one.start == at for one in node.phases)

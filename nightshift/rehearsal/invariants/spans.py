"""Spans of time: [start, end), in order."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

Span = tuple[int, int]
_LAST = 1 << 62


def inside(spans: Sequence[Span], at: int) -> bool:
    """Whether `at` lies in one of them."""
    return around(spans, at) is not None


def around(spans: Sequence[Span], at: int) -> Span | None:
    """The span in which `at` lies."""
    index = bisect_right(spans, (at, _LAST)) - 1
    return spans[index] if index >= 0 and at < spans[index][1] else None


def latest(spans: Sequence[Span], at: int) -> Span | None:
    """The last span that began at or before `at`."""
    index = bisect_right(spans, (at, _LAST)) - 1
    return spans[index] if index >= 0 else None


def upcoming(spans: Sequence[Span], at: int) -> Span | None:
    """The first span that begins after `at`."""
    index = bisect_right(spans, (at, _LAST))
    return spans[index] if index < len(spans) else None


def overlap(span: Span, other: Span) -> int:
    """Seconds in both."""
    return max(0, min(span[1], other[1]) - max(span[0], other[0]))


def near(spans: Sequence[Span], low: int, high: int) -> Sequence[Span]:
    """Those that could meet [low, high): one more on the left is given, never one less."""
    return spans[max(0, bisect_right(spans, (low, _LAST)) - 2) : bisect_right(spans, (high, _LAST))]


def joined(before: Sequence[Span], after: Sequence[Span], now: int) -> tuple[Span, ...]:
    """The one up to `now`, the other from then on."""
    found = [(low, min(high, now)) for low, high in before if low < now]
    for low, high in after:
        if high > now:
            start = max(low, now)
            if found and start == found[-1][1]:
                found[-1] = (found[-1][0], high)
            else:
                found.append((start, high))
    return tuple(found)

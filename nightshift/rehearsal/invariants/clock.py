"""When rules are looked at besides the events of the site."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.expect import SnapshotExpect
from nightshift.rehearsal.invariants.spans import Span

_HOUR, _DAY = 3_600, 86_400


def now_and_then(site: Site, windows: Sequence[Span], look: Callable[[Span], None]) -> None:
    """Call `look` at the start of each window, one after the other: the queue stays short."""
    _next(site, iter(windows), look)


def _next(site: Site, windows: Iterator[Span], look: Callable[[Span], None]) -> None:
    span = next(windows, None)
    if span is not None:
        site.queue.at(span[0], _begun, site, span, windows, look)


def _begun(site: Site, span: Span, windows: Iterator[Span], look: Callable[[Span], None]) -> None:
    look(span)
    _next(site, windows, look)


def first_turn(policy: SnapshotExpect, start: int) -> int:
    """The policy's first turn at or after `start`, by the stack file's words; always UTC."""
    day = datetime.fromtimestamp(start, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    clock = datetime.strptime(policy.at_utc, "%H:%M")
    due = int(day.timestamp()) + clock.hour * _HOUR + clock.minute * 60 - _DAY
    while due < start:
        due += policy.every_hours * _HOUR
    return due

"""When a group is up: its shifts in their zone, under an operator's override."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from nightshift.plan.instants import UTC, Flag, first_instant, local_text, require_aware, zone_of
from nightshift.plan.shifts import Shift, is_whole_week, week_windows

Cause = Literal["shift", "override"]
Kind = Literal["up", "down"]
Interval = tuple[datetime, datetime]
_WEEK = timedelta(days=7)
_HORIZON = timedelta(days=22)
"""Edges come weekly; a gap can swallow a window in one week, never in three."""


@dataclass(frozen=True)
class Override:
    """An operator's word over the calendar, in force from now until `until` (aware, UTC).

    `up`: the group is up until then, and the shifts speak again after it.
    `down`: the group is down until then, and comes up at the first shift start that isn't before
    `until`; a shift in which `until` falls doesn't come back half way.
    """

    state: Kind
    until: datetime

    def in_force(self, now: datetime) -> bool:
        """False once `until` has passed."""
        return now < self.until


@dataclass(frozen=True)
class Event:
    """A change of the group's size. `local` is the wall clock at `at`; flags name a DST night."""

    at: datetime
    local: str
    kind: Kind
    desired: int
    cause: Cause
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True)
class _Span:
    start: datetime
    end: datetime
    start_flags: tuple[Flag, ...] = ()
    end_flags: tuple[Flag, ...] = ()
    start_cause: Cause = "shift"
    end_cause: Cause = "shift"


@dataclass(frozen=True)
class Calendar:
    """The shifts of one group of `nodes` in an IANA zone, and the override record if there is one.

    Pass the record also when its `until` lies in the past: a `down` that ended inside a shift keeps that
    shift down. When the override began isn't known, so with one the answers hold from now on only.
    """

    shifts: tuple[Shift, ...]
    zone: str
    nodes: int
    override: Override | None = None

    def intervals(self, start: datetime, end: datetime) -> tuple[Interval, ...]:
        """The merged UTC intervals of [start, end) in which the group is up, half open."""
        low, high = require_aware(start, "start"), require_aware(end, "end")
        clipped = ((max(span.start, low), min(span.end, high)) for span in self._spans(low, high))
        return tuple((first, last) for first, last in clipped if first < last)

    def is_up(self, at: datetime) -> bool:
        """Whether the group is up at `at`."""
        return bool(self.intervals(at, at + timedelta(microseconds=1)))

    def events(self, start: datetime, end: datetime) -> tuple[Event, ...]:
        """Every change of size in [start, end), in order."""
        low, high = require_aware(start, "start"), require_aware(end, "end")
        found: list[Event] = []
        for span in self._spans(low - timedelta(seconds=1), high + timedelta(seconds=1)):
            if low <= span.start < high:
                found.append(self._event(span.start, "up", span.start_cause, span.start_flags))
            if low <= span.end < high:
                found.append(self._event(span.end, "down", span.end_cause, span.end_flags))
        return tuple(found)

    def next_event(self, at: datetime) -> Event | None:
        """The first change after `at`; None for a group that never changes."""
        moment = require_aware(at, "at")
        origins = [moment]
        if self.override and self.override.until > moment:
            origins.append(self.override.until - timedelta(seconds=1))
        for origin in origins:
            for event in self.events(origin, origin + _HORIZON):
                if event.at > moment:
                    return event
        return None

    def without_override(self) -> Calendar:
        """The shifts alone."""
        return replace(self, override=None)

    def _event(self, at: datetime, kind: Kind, cause: Cause, flags: tuple[Flag, ...]) -> Event:
        desired = self.nodes if kind == "up" else 0
        return Event(at, local_text(at, zone_of(self.zone)), kind, desired, cause, flags)

    def _spans(self, low: datetime, high: datetime) -> list[_Span]:
        """Spans that meet [low, high), with ends that may lie outside of it."""
        override = self.override
        if override is None:
            return list(self._shift_spans(low, high))
        until = require_aware(override.until, "override.until")
        if override.state == "up":
            return self._woken(low, high, until)
        if is_whole_week(week_windows(self.shifts)):
            return [_Span(until, _FOREVER, start_cause="override")] if until < high else []
        return [span for span in self._shift_spans(low, high) if span.start >= until]

    def _woken(self, low: datetime, high: datetime, until: datetime) -> list[_Span]:
        wake = _Span(_ALWAYS, until, end_cause="override")
        later = []
        for span in self._shift_spans(min(low, until), max(high, until + timedelta(seconds=1))):
            if span.start <= until < span.end or span.end == until:
                wake = replace(span, start=_ALWAYS)
            elif span.start > until:
                later.append(span)
        return [span for span in (wake, *later) if span.start < high and span.end > low]

    def _shift_spans(self, low: datetime, high: datetime) -> Iterator[_Span]:
        windows = week_windows(self.shifts)
        if is_whole_week(windows):
            yield _Span(_ALWAYS, _FOREVER)
            return
        held: _Span | None = None
        for span in self._raw_spans(low, high):
            if held and span.start <= held.end:
                held = replace(held, end=span.end, end_flags=span.end_flags)
                continue
            if held and held.end > low:
                yield held
            held = span
        if held and held.end > low:
            yield held

    def _raw_spans(self, low: datetime, high: datetime) -> Iterator[_Span]:
        """Each window of each week as instants, in order; a window that a gap swallows is no span."""
        zone = zone_of(self.zone)
        windows = [
            (timedelta(minutes=window.start), timedelta(minutes=window.end))
            for window in week_windows(self.shifts)
        ]
        if not windows:
            return
        monday = _monday(low.astimezone(zone).replace(tzinfo=None)) - _WEEK
        while True:
            for opens, closes in windows:
                start, start_flags = first_instant(monday + opens, zone)
                if start >= high:
                    return
                end, end_flags = first_instant(monday + closes, zone)
                if start < end:
                    yield _Span(start, end, start_flags, end_flags)
            monday += _WEEK


_ALWAYS = datetime(1, 1, 2, tzinfo=UTC)
_FOREVER = datetime(9999, 12, 30, tzinfo=UTC)


def _monday(local: datetime) -> datetime:
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    return midnight - timedelta(days=local.weekday())

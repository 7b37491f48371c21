"""Whether this node may stay up: the calendar, the operator's word and AWS's time, decided purely.

Scheduled actions are edges, and one can be lost; this is the level. It acts only well past an edge, so the
edge comes first wherever it comes at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta

from bootstrap.manifest import BootManifest
from nightshift.plan.calendar import Calendar, Override
from nightshift.plan.instants import local_text, zone_of
from nightshift.plan.shifts import Shift
from nightshift.records.model import OverrideRecord

LATE = timedelta(minutes=10)
"""A scheduled action fires within two minutes (Auto Scaling User Guide); the rest is room for doubt."""
EARLY = timedelta(minutes=15)
"""A shift that begins so soon counts: nobody launches a node for less."""


@dataclass(frozen=True)
class Word:
    """`ends_at` (UTC): when it goes down as things stand, None for never or when it's over already."""

    stay: bool
    says: str
    ends_at: datetime | None = None


def calendar_of(manifest: BootManifest, override: OverrideRecord | None) -> Calendar:
    """The group's calendar. A record whose time has passed still says that its shift doesn't come back."""
    shifts = tuple(Shift(each.days, _clock(each.start), _clock(each.end)) for each in manifest.shifts)
    said = Override(override.state, override.until) if override else None
    return Calendar(shifts, manifest.timezone, manifest.nodes, said)


def _clock(text: str) -> time:
    hour, _, minute = text.partition(":")
    return time(int(hour), int(minute))


def judge(calendar: Calendar, now: datetime) -> Word:
    """Stay or go at `now` (aware)."""
    if calendar.is_up(now):
        event = calendar.next_event(now)
        ends = event.at if event is not None and event.kind == "down" else None
        return Word(True, "inside its shift" if ends is None else f"up until {_local(calendar, ends)}", ends)
    said = calendar.override
    if said is not None and said.in_force(now):
        return Word(False, f"an operator wants it down until {_local(calendar, said.until)}")
    if calendar.is_up(now - LATE):
        return Word(True, "just past its end: the group's own schedule comes first")
    if calendar.is_up(now + EARLY):
        return Word(True, "just before its shift")
    return Word(False, "past the end of its shift, and no override keeps it up")


def _local(calendar: Calendar, at: datetime) -> str:
    return local_text(at, zone_of(calendar.zone))

"""The coming week as a picture: one row a group, three hours a character."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import pairwise

from nightshift.plan.calendar import Calendar
from nightshift.plan.instants import first_instant, zone_of

DAYS = 7
CELLS = 8
_CELL = timedelta(hours=24 // CELLS)
LEGEND = "a character is 3 hours: # up, + up for a part, . down"


def week_strip(calendars: Mapping[str, Calendar], now: datetime, zone: str) -> list[str]:
    """Rows of 8 characters a day from today's local midnight on, under the days' names."""
    today = now.astimezone(zone_of(zone)).replace(tzinfo=None, hour=0, minute=0, second=0, fold=0)
    width = max(len(name) for name in calendars)
    days = [today + timedelta(days=day) for day in range(DAYS)]
    head = "".join(f"{day:%a} {day.day}".ljust(CELLS) for day in days)
    lines = [f"{'':{width}}  {head}".rstrip()]
    for name, calendar in calendars.items():
        cells = "".join(_day(calendar, day, now, zone) for day in days)
        lines.append(f"{name:{width}}  {cells}")
    return [*lines, f"{'':{width}}  {LEGEND}" if width + 2 + len(LEGEND) <= 80 else LEGEND]


def _day(calendar: Calendar, midnight: datetime, now: datetime, zone: str) -> str:
    edges = [first_instant(midnight + _CELL * cell, zone_of(zone))[0] for cell in range(CELLS + 1)]
    plain = calendar.without_override()
    return "".join(_cell(calendar if end > now else plain, start, end) for start, end in pairwise(edges))


def _cell(calendar: Calendar, start: datetime, end: datetime) -> str:
    if start >= end:
        return "."
    share = sum((b - a for a, b in calendar.intervals(start, end)), timedelta()) / (end - start)
    return "#" if share == 1 else "+" if share else "."

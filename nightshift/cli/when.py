"""Times as operators say them and as they read them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from nightshift.cli.errors import UsageError
from nightshift.plan.instants import UTC, WEEKDAYS, first_instant, zone_of
from nightshift.records.model import LONGEST

_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_SPAN = re.compile(r"(?:(\d{1,3})d)?(?:(\d{1,4})h)?(?:(\d{1,5})m)?")
_DATES = '"2026-12-07 09:00" or "2026-12-07T01:00Z"'
_EXPECTED = f'expected such as "18:00", "mon 09:00", {_DATES}'


def parse_until(text: str, now: datetime, zone: str) -> datetime:
    """The instant meant; a clock time or weekday is its next one, in the group's zone. Raises UsageError."""
    at = _clock(text, now, zone) or _date(text, zone)
    if at is None:
        raise UsageError(f"--until: given {text!r}, {_EXPECTED}")
    if at <= now:
        raise UsageError(f"--until: {text!r} is {at:%Y-%m-%d %H:%M} UTC, which is past; say a later time")
    if at - now > LONGEST:
        raise UsageError(f"--until: {text!r} is more than a year ahead; edit the shifts instead")
    return at


def parse_span(text: str) -> timedelta:
    """`3h`, `45m`, `1d12h`. Raises UsageError."""
    span = _span(text)
    if span is None or span > LONGEST:
        raise UsageError(f'--for: given {text!r}, expected such as "3h", "45m" or "1d12h"')
    return span


def _span(text: str) -> timedelta | None:
    """More than nothing, or None."""
    hit = _SPAN.fullmatch(text.strip().lower())
    days, hours, minutes = (int(part or 0) for part in hit.groups()) if hit else (0, 0, 0)
    return timedelta(days=days, hours=hours, minutes=minutes) or None


def parse_past(option: str, text: str, now: datetime, zone: str) -> datetime:
    """A span before now (`2h`), a clock time or weekday (its last one), or a date. Raises UsageError."""
    span = _span(text)
    at = now - span if span is not None else _clock(text, now, zone, back=True) or _date(text, zone)
    if at is None:
        raise UsageError(f'{option}: given {text!r}, expected such as "2h", "07:00", "mon 09:00", {_DATES}')
    if at > now:
        raise UsageError(f"{option}: {text!r} is {at:%Y-%m-%d %H:%M} UTC, which is still to come")
    return at


def _clock(text: str, now: datetime, zone: str, *, back: bool = False) -> datetime | None:
    """`18:00` or `mon 09:00`: the next one, or the last one."""
    words = text.strip().lower().split()
    hit = _CLOCK.fullmatch(words[-1]) if words else None
    if hit is None or len(words) > 2:
        return None
    days = [at for at, day in enumerate(WEEKDAYS) if len(words) == 2 and _is_day(words[0], day)]
    if len(words) == 2 and not days:
        return None
    midnight = now.astimezone(zone_of(zone)).replace(tzinfo=None, hour=0, minute=0, second=0, fold=0)
    wanted = timedelta(hours=int(hit[1]), minutes=int(hit[2]))
    for distance in range(9):
        day = midnight + timedelta(days=-distance if back else distance)
        instant, _ = first_instant(day + wanted, zone_of(zone))
        if (not days or day.weekday() in days) and (instant <= now if back else instant > now):
            return instant
    return None


def _is_day(word: str, day: str) -> bool:
    full = {"tue": "tuesday", "wed": "wednesday", "thu": "thursday", "sat": "saturday"}
    return word in {day, full.get(day, f"{day}day")}


def _date(text: str, zone: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    try:
        return at.astimezone(UTC) if at.tzinfo else first_instant(at, zone_of(zone))[0]
    except OverflowError:
        return None


def ahead(span: timedelta) -> str:
    """A distance as people say it: `45 min`, `27 h`, `6 days`."""
    minutes = max(0, round(span.total_seconds() / 60))
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 72 * 60:
        return f"{round(minutes / 60)} h"
    return f"{round(minutes / 1440)} days"


def utc_text(at: datetime) -> str:
    """`12-02 12:00Z`."""
    return f"{at.astimezone(UTC):%m-%d %H:%M}Z"


def iso(at: datetime) -> str:
    """`2026-12-02T12:00:00Z`, as every JSON answer writes instants."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def who(arn: str) -> str:
    """The part of an ARN that people know: `user/ana`, `assumed-role/lab/ana`."""
    return arn.rpartition(":")[2]

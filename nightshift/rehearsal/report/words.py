"""Times, lengths, counts and money as the report's reader sees them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from math import floor
from zoneinfo import ZoneInfo

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_DAY = 86_400


@dataclass(frozen=True)
class ClockChange:
    """The instant at which a zone's clocks are set: from what they showed, with its name, to what they show.

    `hours` is how long the local day of the change is.
    """

    at: int
    before: str
    after: str
    hours: float


@dataclass(frozen=True)
class Clock:
    """Wall time in one IANA zone."""

    zone: str

    @cached_property
    def _zone(self) -> ZoneInfo:
        return ZoneInfo(self.zone)

    def local(self, at: int) -> datetime:
        """The wall clock at `at`."""
        return datetime.fromtimestamp(at, UTC).astimezone(self._zone)

    def midnight(self, at: int, days: int = 0) -> int:
        """The instant at which the local day of `at`, or one `days` later, begins."""
        day = self.local(at).date() + timedelta(days=days)
        start = datetime(day.year, day.month, day.day, tzinfo=self._zone)
        return int(start.timestamp())

    def when(self, at: int) -> str:
        """`Wed 2 Dec 23:14`, with the zone's short name on a day whose clocks change."""
        return f"{self.day(at)} {self.hour(at)}"

    def day(self, at: int) -> str:
        """`Wed 2 Dec`."""
        local = self.local(at)
        return f"{local:%a} {local.day} {local:%b}"

    def date(self, at: int) -> str:
        """`2 Dec 2026`."""
        local = self.local(at)
        return f"{local.day} {local:%b %Y}"

    def hour(self, at: int) -> str:
        """`23:14`; on a day whose clocks change `01:30 EDT`."""
        local = self.local(at)
        return f"{local:%H:%M %Z}" if self._odd(at) else f"{local:%H:%M}"

    def second(self, at: int) -> str:
        """`Wed 2 Dec 23:14:05`."""
        local = self.local(at)
        return (
            f"{self.day(at)} {local:%H:%M:%S}{local: %Z}" if self._odd(at) else f"{self.day(at)} {local:%X}"
        )

    def span(self, start: int, end: int) -> str:
        """`Wed 2 Dec 20:00 to 07:00`; both days when it is longer than one."""
        close = self.hour(end) if end - start < _DAY else self.when(end)
        return f"{self.when(start)} to {close}"

    def changes(self, start: int, end: int) -> tuple[ClockChange, ...]:
        """Every setting of the clocks in [start, end)."""
        found, at = [], start
        while at < end:
            after = min(at + _DAY, end)
            if self.local(at).utcoffset() != self.local(after).utcoffset():
                found.append(self._change(at, after))
            at = after
        return tuple(found)

    def _change(self, low: int, high: int) -> ClockChange:
        offset = self.local(low).utcoffset()
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.local(middle).utcoffset() == offset else (low, middle)
        last, first = self.local(low), self.local(high)
        gained = (first.utcoffset() or timedelta()) - (last.utcoffset() or timedelta())
        before = datetime.fromtimestamp(high, UTC) + (last.utcoffset() or timedelta())
        return ClockChange(
            high, f"{before:%H:%M} {last:%Z}", f"{first:%H:%M %Z}", 24 - gained.total_seconds() / 3600
        )

    def _odd(self, at: int) -> bool:
        return self.midnight(at, 1) - self.midnight(at) != _DAY


def clean(text: str) -> str:
    """The text with what neither XML nor a terminal may hold shown as a replacement character."""
    return _UNPRINTABLE.sub("\ufffd", text)


def length(seconds: float) -> str:
    """`45 s`, `12 min`, `11 h`, `11 h 02 min`, `312 h`."""
    if seconds < 60:
        return f"{round(seconds)} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes % 60 == 0:
        return f"{number(minutes // 60)} h"
    if minutes < 6000:
        return f"{minutes // 60} h {minutes % 60:02} min"
    return f"{number(minutes / 60)} h"


def precisely(seconds: float) -> str:
    """Like `length`, with a tenth of a second where that matters: `0.4 s`."""
    return f"{seconds:.1f} s" if seconds < 10 else length(seconds)


def hours(minutes: float) -> str:
    """`33.5 h`."""
    return f"{minutes / 60:,.1f} h"


def usd(amount: float) -> str:
    """`1,234.50 USD`; a sum that isn't a whole number of cents is rounded."""
    return f"{_zero(amount):,.2f} USD"


def signed_usd(amount: float) -> str:
    """`+1.20 USD`, `−0.40 USD`."""
    return _signed(f"{abs(_zero(amount)):,.2f} USD", amount, 0.005)


def signed_minutes(minutes: float) -> str:
    """`+12 min`, `−3 min`."""
    return _signed(f"{number(abs(minutes))} min", minutes, 0.5)


def _signed(text: str, amount: float, least: float) -> str:
    return text if abs(amount) < least else f"{'+' if amount > 0 else '−'}{text}"


def _zero(amount: float) -> float:
    return 0.0 if abs(amount) < 0.005 else amount


def adding_up(parts: Sequence[float], total: int) -> list[int]:
    """The parts as whole numbers, none off by one, whose sum is the total; where none is, each rounded."""
    whole = [floor(round(part, 4)) for part in parts]
    short = total - sum(whole)
    if not 0 <= short <= len(parts):
        return [round(part) for part in parts]
    for at in sorted(range(len(parts)), key=lambda at: whole[at] - parts[at])[:short]:
        whole[at] += 1
    return whole


def number(value: float) -> str:
    """`12,400`."""
    return f"{value:,.0f}"


def count(many: int, one: str, more: str = "") -> str:
    """`1 fault`, `3 faults`."""
    return f"{number(many)} {one if many == 1 else more or one + 's'}"


def ended(how: str) -> str:
    """How a node ended, for people."""
    return "still up when the rehearsal ended" if how == "alive" else how


def weeks(value: float) -> str:
    """`one week`, `52 weeks`; what isn't whole weeks in days or hours."""
    if value < 0.28:
        return f"{max(1, round(value * 168))} hours"
    if abs(value - round(value)) > 0.02 or not round(value):
        return f"{round(value * 7)} days"
    return "one week" if round(value) == 1 else f"{round(value)} weeks"

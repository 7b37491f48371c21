"""Adds up bill, forecast and differences so that they agree to the cent and to the minute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from nightshift.plan.forecast import cents
from nightshift.rehearsal.story import Bill, BillLine, Difference


@dataclass(frozen=True)
class Entry:
    """One line. `seconds` of nodes, 0 where it isn't their time."""

    what: str
    quantity: Decimal
    unit: str
    unit_usd: Decimal
    seconds: int = 0
    group: str | None = None

    @property
    def usd(self) -> Decimal:
        """Exact."""
        return self.quantity * self.unit_usd

    def line(self) -> BillLine:
        """As the story has it."""
        usd, minutes = float(round(self.usd, 4)), round(self.seconds / 60)
        return BillLine(
            self.what,
            float(round(self.quantity, 4)),
            self.unit,
            float(self.unit_usd),
            usd,
            minutes,
            self.group,
        )


@dataclass(frozen=True)
class Reason:
    """Why bill and forecast aren't the same; positive: the bill is higher. The rest as in `Difference`."""

    why: str
    seconds: int
    usd: Decimal
    group: str | None = None
    unserved: bool = False
    shifts: tuple[int, ...] = ()


@dataclass
class Sums:
    """Collects; `bill` gives the result."""

    _entries: list[Entry] = field(default_factory=list)
    _why: list[Reason] = field(default_factory=list)
    _planned_s: int = 0
    _planned_usd: Decimal = Decimal()

    def billed(self, entry: Entry) -> None:
        """A line of the bill."""
        self._entries.append(entry)

    def planned(self, seconds: int, usd: Decimal) -> None:
        """A part of the forecast."""
        self._planned_s += seconds
        self._planned_usd += usd

    def differ(self, reason: Reason) -> None:
        """A reason why they aren't the same."""
        self._why.append(reason)

    def bill(self, always_on_usd: Decimal) -> Bill:
        """The differences are rounded so that their sum is the rounded one."""
        return Bill(
            lines=tuple(entry.line() for entry in self._entries),
            usd=float(cents(sum((entry.usd for entry in self._entries), Decimal()))),
            forecast_usd=float(cents(self._planned_usd)),
            always_on_usd=float(cents(always_on_usd)),
            billed_minutes=_minutes(sum(entry.seconds for entry in self._entries)),
            forecast_minutes=_minutes(self._planned_s),
            differences=tuple(self._differences()),
        )

    def _differences(self) -> Iterator[Difference]:
        """One after the other, the largest first: each is off by a minute and a cent at most."""
        seconds, usd = self._planned_s, self._planned_usd
        for one in sorted(self._why, key=lambda one: (-abs(one.usd), -abs(one.seconds))):
            minutes, before = _minutes(seconds), cents(usd)
            seconds, usd = seconds + one.seconds, usd + one.usd
            more = _minutes(seconds) - minutes
            yield Difference(one.why, more, float(cents(usd) - before), one.group, one.unserved, one.shifts)


def _minutes(seconds: int) -> int:
    return (seconds + 30) // 60

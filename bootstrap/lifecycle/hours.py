"""GPU-hours of a group in a month: the sum is pure; each boot of each node writes its own span."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone

from nightshift.records.hours import HoursRecord
from nightshift.records.store import Records

_HOUR = timedelta(hours=1)


def month_of(at: datetime) -> str:
    """The UTC month, as `2026-12`."""
    return f"{at.astimezone(timezone.utc):%Y-%m}"


def span_of(month: str) -> tuple[datetime, datetime]:
    """The month's first instant, and the next one's."""
    first = datetime.strptime(month, "%Y-%m").replace(tzinfo=timezone.utc)
    return first, (first + timedelta(days=32)).replace(day=1)


def months_between(since: datetime, until: datetime) -> tuple[str, ...]:
    """Every month that [since, until] touches, in order."""
    found, at = [month_of(since)], span_of(month_of(since))[1]
    while at <= until:
        found.append(month_of(at))
        at = span_of(month_of(at))[1]
    return tuple(found)


def gpu_hours(records: Iterable[HoursRecord], month: str) -> float:
    """GPU-hours that lie in the month."""
    first, last = span_of(month)
    spans = ((max(each.since, first), min(each.until, last), each.gpus) for each in records)
    return sum(gpus * ((until - since) / _HOUR) for since, until, gpus in spans if since < until)


def used_up(cap: int | None, used: float) -> str:
    """Why no more may be used, or nothing."""
    if cap is None or used < cap:
        return ""
    return f"{used:.1f} of {cap} GPU-hours of this month are used"


class Meter:
    """This boot's own span, written while it runs. `since` is when the node came up, by AWS's clock."""

    def __init__(self, records: Records, group: str, node: str, gpus: float, since: datetime) -> None:
        self._records, self._group, self._node = records, group, node
        self._gpus, self._since = gpus, since

    def note(self, now: datetime) -> float:
        """Write that the node is still up; the group's GPU-hours of this month so far.

        Raises RecordsError or what the client raises. Written before it is summed, so that nodes which
        start together see each other.
        """
        record = HoursRecord(self._node, self._gpus, self._since, max(now, self._since))
        name = f"{self._node}-{self._since:%Y%m%dT%H%M%S}"
        for month in months_between(self._since, record.until):
            self._records.write_hours(self._group, month, name, record)
        return gpu_hours(self._records.hours(self._group, month_of(now)), month_of(now))

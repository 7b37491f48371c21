"""GPU-hours of a month, recorded by nodes that run at once, over a month's end, or twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.lifecycle.hours import Meter, gpu_hours, month_of, months_between, span_of, used_up
from nightshift.records.hours import HoursRecord

INSTANTS = st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)).map(lambda at: at.replace(tzinfo=UTC))
NEW_YEAR = datetime(2027, 1, 1, tzinfo=UTC)


class Store:
    """The bucket: last writer of a name wins."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], HoursRecord] = {}

    def write_hours(self, _group: str, month: str, name: str, record: HoursRecord) -> None:
        self.rows[month, name] = record

    def hours(self, _group: str, month: str) -> tuple[HoursRecord, ...]:
        return tuple(record for (at, _), record in self.rows.items() if at == month)


def meter(store: Any, node: str, gpus: float, since: datetime) -> Meter:
    return Meter(store, "vit", node, gpus, since)


def test_the_nodes_of_a_group_count_together() -> None:
    store, noon = Store(), datetime(2026, 12, 5, 12, tzinfo=UTC)
    one, two = meter(store, "i-1", 8, noon), meter(store, "i-2", 4, noon)
    assert one.note(noon + timedelta(hours=1)) == pytest.approx(8)
    assert two.note(noon + timedelta(hours=2)) == pytest.approx(8 + 8)
    assert one.note(noon + timedelta(hours=3)) == pytest.approx(24 + 8)


def test_a_second_boot_of_a_node_is_counted_besides_the_first() -> None:
    store, noon = Store(), datetime(2026, 12, 5, 12, tzinfo=UTC)
    meter(store, "i-1", 8, noon).note(noon + timedelta(hours=1))
    later = noon + timedelta(days=2)
    assert meter(store, "i-1", 8, later).note(later + timedelta(hours=1)) == pytest.approx(16)


def test_a_shift_over_the_end_of_a_month_counts_in_both() -> None:
    store = Store()
    runs = meter(store, "i-1", 2, NEW_YEAR - timedelta(hours=3))
    runs.note(NEW_YEAR - timedelta(minutes=5))
    assert runs.note(NEW_YEAR + timedelta(hours=4)) == pytest.approx(8)
    assert gpu_hours(store.hours("vit", "2026-12"), "2026-12") == pytest.approx(6)


def test_a_clock_that_goes_back_writes_no_span_that_ends_before_it_begins() -> None:
    store = Store()
    assert meter(store, "i-1", 2, NEW_YEAR).note(NEW_YEAR - timedelta(hours=1)) == 0


@given(st.lists(st.tuples(INSTANTS, st.timedeltas(timedelta(0), timedelta(days=70)), st.integers(0, 16))))
def test_every_gpu_hour_is_in_exactly_one_month(rows: list[tuple[datetime, timedelta, int]]) -> None:
    records = [HoursRecord("i", gpus, since, since + took) for since, took, gpus in rows]
    months = {month for each in records for month in months_between(each.since, each.until)}
    whole = sum(gpus * took.total_seconds() / 3600 for _, took, gpus in rows)
    assert sum(gpu_hours(records, month) for month in months) == pytest.approx(whole)


@given(INSTANTS)
def test_a_month_has_all_its_instants_and_ends_where_the_next_begins(at: datetime) -> None:
    first, last = span_of(month_of(at))
    assert first <= at < last
    assert (last.day, month_of(last - timedelta(seconds=1))) == (1, month_of(at))


@pytest.mark.parametrize(("cap", "used", "over"), [(None, 1e9, False), (10, 9.99, False), (10, 10.0, True)])
def test_the_cap_is_reached_at_its_number(cap: int | None, used: float, over: bool) -> None:
    assert bool(used_up(cap, used)) is over

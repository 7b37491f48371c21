"""Whether a node may stay: against the calendar itself, and against services that don't answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.lifecycle.aws_clock import AwsClock
from bootstrap.lifecycle.guard import EARLY, LATE, calendar_of, judge
from bootstrap.lifecycle.standing import UNKNOWN, Standing
from bootstrap.manifest import BootShift
from nightshift.records.errors import Unreadable
from nightshift.records.model import OverrideRecord
from nightshift.records.store import Seen
from tests.bootstrap.support import samples

NIGHT = BootShift(("mon", "wed", "fri"), "20:00", "07:00")
MANIFEST = replace(
    samples.MANIFEST, nodes=2, timezone="Europe/Berlin", shifts=(NIGHT,), boot_s=1200, drain_s=600
)
WEDNESDAY = datetime(2026, 12, 2, 19, 0, tzinfo=UTC)
"""20:00 in Berlin: the shift begins; it ends on Thursday at 06:00 UTC."""
END = WEDNESDAY + timedelta(hours=11)


def at(moment: datetime, override: OverrideRecord | None = None) -> Any:
    return judge(calendar_of(MANIFEST, override), moment)


def said(state: Any, until: datetime) -> OverrideRecord:
    return OverrideRecord(state, until, "ana", WEDNESDAY)


def test_a_node_stays_in_its_shift_and_knows_its_end() -> None:
    word = at(WEDNESDAY + timedelta(hours=3))
    assert word.stay
    assert word.ends_at == END
    assert "07:00" in word.says


def test_the_groups_own_schedule_comes_first_at_the_end() -> None:
    assert at(END + LATE - timedelta(seconds=1)).stay
    assert not at(END + LATE).stay


def test_a_node_that_came_just_before_its_shift_stays() -> None:
    assert at(WEDNESDAY - EARLY + timedelta(seconds=1)).stay
    assert not at(WEDNESDAY - EARLY - timedelta(minutes=1)).stay


def test_a_wake_keeps_it_up_past_the_shift_and_ends() -> None:
    woken = said("up", END + timedelta(hours=3))
    assert at(END + timedelta(hours=2), woken).stay
    assert at(END + timedelta(hours=2), woken).ends_at == END + timedelta(hours=3)
    assert not at(END + timedelta(hours=4), woken).stay


def test_a_sleep_inside_a_shift_ends_it_at_once_and_for_the_whole_shift() -> None:
    slept = said("down", WEDNESDAY + timedelta(hours=2))
    word = at(WEDNESDAY + timedelta(hours=1), slept)
    assert not word.stay
    assert "operator" in word.says
    assert not at(WEDNESDAY + timedelta(hours=5), slept).stay, "its shift doesn't come back half way"
    friday = WEDNESDAY + timedelta(days=2)
    assert at(friday, slept).stay


def test_a_group_that_is_always_up_never_goes() -> None:
    always = replace(
        MANIFEST,
        shifts=(BootShift(("mon", "tue", "wed", "thu", "fri", "sat", "sun"), "00:00", "00:00"),),
    )
    word = judge(calendar_of(always, None), WEDNESDAY)
    assert word.stay
    assert word.ends_at is None


@given(
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)),
    st.none()
    | st.tuples(st.sampled_from(["up", "down"]), st.timedeltas(timedelta(days=-8), timedelta(days=8))),
)
def test_it_never_ends_a_node_that_the_calendar_wants_nor_keeps_one_long_past_it(
    moment: datetime, override: tuple[str, timedelta] | None
) -> None:
    now = moment.replace(tzinfo=UTC)
    record = said(override[0], now + override[1]) if override else None
    calendar = calendar_of(MANIFEST, record)
    word = judge(calendar, now)
    if calendar.is_up(now):
        assert word.stay
        assert word.ends_at is None or word.ends_at > now
    elif not any(calendar.is_up(now + each) for each in (-LATE, EARLY)):
        assert not word.stay


class Store:
    """Records that answer, or don't."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def override(self, _group: str) -> Seen:
        if isinstance(self.answer, Exception):
            raise self.answer
        return Seen(self.answer, None)


GONE = EndpointConnectionError(endpoint_url="s3")


class Bench:
    def __init__(self, now: datetime | Exception | None, answer: Any) -> None:
        self.now, self.store, self.lines, self.passed = now, Store(answer), list[str](), [0.0]
        self.clock = AwsClock(self._ask, lambda: self.passed[0])
        records: Any = self.store
        self.standing = Standing(MANIFEST, records, self.clock, self.lines.append)

    def _ask(self) -> datetime | None:
        if isinstance(self.now, Exception):
            raise self.now
        return self.now


def test_going_takes_two_looks_in_a_row() -> None:
    bench = Bench(END + timedelta(hours=5), None)
    assert bench.standing.decided().stay
    assert bench.standing.doubts
    assert not bench.standing.decided().stay


def test_one_odd_answer_ends_no_run() -> None:
    bench = Bench(WEDNESDAY + timedelta(hours=1), None)
    for now in (WEDNESDAY + timedelta(days=400), WEDNESDAY + timedelta(hours=1)) * 3:
        bench.now = now
        assert bench.standing.decided().stay


def test_a_store_that_does_not_answer_leaves_the_last_word_in_force_and_is_said_once() -> None:
    bench = Bench(END + timedelta(hours=1), said("up", END + timedelta(hours=3)))
    assert bench.standing.look().stay
    bench.store.answer = GONE
    for hours in (1, 2):
        bench.now = END + timedelta(hours=hours)
        assert bench.standing.look().stay
    bench.now = END + timedelta(hours=4)
    assert not bench.standing.look().stay, "the last word had an end, and it has passed"
    assert len(bench.lines) == 1
    bench.store.answer = None
    bench.standing.look()
    assert bench.lines[-1] == "the override can be read again"


@pytest.mark.parametrize("answer", [GONE, Unreadable("s3://x", "is no JSON")])
def test_a_word_that_was_never_read_is_nothing_to_act_on(answer: Exception) -> None:
    bench = Bench(END + timedelta(hours=9), answer)
    assert bench.standing.look() == UNKNOWN


def test_a_time_that_was_never_told_is_nothing_to_act_on() -> None:
    for now in (None, GONE):
        assert Bench(now, None).standing.look() == UNKNOWN


def test_a_time_that_is_no_longer_told_passes_all_the_same() -> None:
    bench = Bench(END - timedelta(minutes=5), None)
    assert bench.standing.look().stay
    bench.now = GONE
    bench.passed[0] = 3600.0
    assert not bench.standing.look().stay

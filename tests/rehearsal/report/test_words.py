"""Local times, lengths and money, as people read them."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.rehearsal.report.words import (
    Clock,
    adding_up,
    clean,
    count,
    length,
    precisely,
    signed_minutes,
    signed_usd,
    usd,
    weeks,
)

ZONES = ("America/New_York", "Asia/Shanghai", "Australia/Lord_Howe", "Europe/Berlin", "America/Santiago")
INSTANTS = st.integers(1_700_000_000, 1_900_000_000)


def at(*when: int) -> int:
    return int(datetime(*when, tzinfo=UTC).timestamp())


@given(INSTANTS, st.sampled_from(ZONES))
def test_midnight_begins_the_local_day(instant: int, zone: str) -> None:
    clock = Clock(zone)
    midnight = clock.midnight(instant)
    assert midnight <= instant < clock.midnight(instant, 1)
    assert clock.local(midnight).date() == clock.local(instant).date()
    assert clock.local(midnight - 1).date() < clock.local(instant).date()


@given(INSTANTS, st.sampled_from(ZONES))
def test_clock_changes_are_exactly_where_the_offset_moves(start: int, zone: str) -> None:
    end = start + 200 * 86_400
    found = [one.at for one in Clock(zone).changes(start, end)]

    def offset(instant: int) -> object:
        return datetime.fromtimestamp(instant, ZoneInfo(zone)).utcoffset()

    assert all(offset(one - 1) != offset(one) for one in found)
    pieces = [start, *found, end]
    assert all(
        offset(first) == offset((first + last) // 2) == offset(last - 1)
        for first, last in pairwise(pieces)
        if last > first
    )


def test_a_change_says_what_the_clocks_showed_and_show() -> None:
    (spring, autumn) = Clock("America/New_York").changes(at(2026, 1, 1), at(2026, 12, 31))
    assert (spring.before, spring.after, spring.hours) == ("02:00 EST", "03:00 EDT", 23)
    assert (autumn.before, autumn.after, autumn.hours) == ("02:00 EDT", "01:00 EST", 25)


def test_times_carry_the_zones_name_only_where_they_would_be_ambiguous() -> None:
    clock = Clock("America/New_York")
    assert clock.when(at(2026, 10, 31, 12)) == "Sat 31 Oct 08:00"
    assert clock.when(at(2026, 11, 1, 5, 30)) == "Sun 1 Nov 01:30 EDT"
    assert clock.when(at(2026, 11, 1, 6, 30)) == "Sun 1 Nov 01:30 EST"
    assert clock.second(at(2026, 11, 1, 6, 30, 5)) == "Sun 1 Nov 01:30:05 EST"


def test_a_span_names_the_second_day_only_when_it_is_long() -> None:
    clock = Clock("Etc/UTC")
    assert clock.span(at(2026, 12, 2, 20), at(2026, 12, 3, 7)) == "Wed 2 Dec 20:00 to 07:00"
    assert clock.span(at(2026, 12, 2, 20), at(2026, 12, 4, 7)) == "Wed 2 Dec 20:00 to Fri 4 Dec 07:00"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (3599, "1 h"), (3600, "1 h"), (39_720, "11 h 02 min")],
)
def test_lengths(seconds: int, said: str) -> None:
    assert length(seconds) == said


def test_short_runs_are_told_to_a_tenth_of_a_second() -> None:
    assert [precisely(seconds) for seconds in (0.04, 3.26, 75)] == ["0.0 s", "3.3 s", "1 min"]


def test_long_lengths_are_hours() -> None:
    assert length(1_000_000) == "278 h"


def test_money_never_shows_minus_nothing() -> None:
    assert usd(-0.001) == "0.00 USD"
    assert signed_usd(-0.004) == "0.00 USD"
    assert signed_usd(-1.5) == "−1.50 USD"
    assert signed_usd(1234.5) == "+1,234.50 USD"
    assert signed_minutes(-1234) == "−1,234 min"
    assert signed_minutes(0) == "0 min"


@pytest.mark.parametrize(
    ("value", "said"),
    [(1, "one week"), (52, "52 weeks"), (0.41, "3 days"), (1.5, "10 days"), (0.01, "2 hours")],
)
def test_weeks(value: float, said: str) -> None:
    assert weeks(value) == said


def test_counts_have_their_noun() -> None:
    assert [count(many, "fault") for many in (0, 1, 1200)] == ["0 faults", "1 fault", "1,200 faults"]


@given(st.text())
def test_clean_text_has_nothing_that_a_terminal_or_xml_obeys(text: str) -> None:
    assert len(clean(text)) == len(text)
    assert all(letter in "\t\n\r" or ord(letter) >= 32 for letter in clean(text))
    assert "\x1b" not in clean(text)


@given(st.lists(st.floats(0, 9_999), max_size=20))
def test_whole_parts_add_up_and_none_is_off_by_one(parts: list[float]) -> None:
    whole = adding_up(parts, round(sum(parts)))
    assert sum(whole) == round(sum(parts))
    assert all(abs(one - part) < 1.0001 for one, part in zip(whole, parts, strict=True))


def test_parts_that_cant_add_up_are_rounded() -> None:
    assert adding_up([100.6, 200.0], 900) == [101, 200]

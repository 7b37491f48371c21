"""Times as operators say them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.cli.errors import UsageError
from nightshift.cli.when import ahead, parse_past, parse_span, parse_until, who

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
"""A Tuesday, 17:00 in Shanghai."""


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("18:00", "2026-12-01 10:00"),
        ("17:00", "2026-12-02 09:00"),
        ("9:30", "2026-12-02 01:30"),
        ("mon 09:00", "2026-12-07 01:00"),
        ("Monday 09:00", "2026-12-07 01:00"),
        ("wednesday 20:00", "2026-12-02 12:00"),
        ("tue 16:59", "2026-12-08 08:59"),
        ("tue 17:01", "2026-12-01 09:01"),
        ("2026-12-07", "2026-12-06 16:00"),
        ("2026-12-07 09:00", "2026-12-07 01:00"),
        ("2026-12-07T09:00", "2026-12-07 01:00"),
        ("2026-12-07T01:00Z", "2026-12-07 01:00"),
        ("2026-12-07T02:00:00+01:00", "2026-12-07 01:00"),
    ],
)
def test_a_time_is_read_in_the_groups_zone_and_means_the_next_one(text: str, meant: str) -> None:
    expected = datetime.fromisoformat(meant).replace(tzinfo=UTC)
    assert parse_until(text, NOW, "Asia/Shanghai") == expected


def test_a_time_that_clocks_skip_means_the_end_of_the_gap() -> None:
    march = datetime(2027, 3, 27, tzinfo=UTC)
    assert parse_until("2027-03-28 02:30", march, "Europe/Berlin") == datetime(2027, 3, 28, 1, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected such as"),
        ("tomorrow", "expected such as"),
        ("25:00", "expected such as"),
        ("m 09:00", "expected such as"),
        ("2026-13-01", "expected such as"),
        ("2026-12-01 09:00", "which is past"),
        ("1999-01-01", "which is past"),
        ("2030-01-01", "more than a year"),
        ("9999-12-31T23:59-23:00", "expected such as"),
        ("0001-01-01", "expected such as"),
    ],
)
def test_what_is_no_later_time_is_refused_with_an_example(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_until(text, NOW, "Asia/Shanghai")


@given(st.text(max_size=30), st.sampled_from(["Etc/UTC", "America/New_York", "Australia/Lord_Howe"]))
def test_any_text_is_either_a_later_time_or_refused(text: str, zone: str) -> None:
    try:
        at = parse_until(text, NOW, zone)
    except UsageError:
        return
    assert NOW < at <= NOW + timedelta(days=366)


@pytest.mark.parametrize(
    ("text", "minutes"), [("3h", 180), ("45m", 45), ("1d12h", 2160), ("1h30m", 90), (" 2D ", 2880)]
)
def test_a_span_is_days_hours_and_minutes(text: str, minutes: int) -> None:
    assert parse_span(text) == timedelta(minutes=minutes)


@pytest.mark.parametrize("text", ["", "0h", "h", "3", "-3h", "3h 5", "400d", "3 hours", "1.5h"])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--for: given"):
        parse_span(text)


@pytest.mark.parametrize(
    ("minutes", "said"), [(0, "0 min"), (59, "59 min"), (60, "1 h"), (1620, "27 h"), (8640, "6 days")]
)
def test_a_distance_is_said_in_the_unit_people_use(minutes: int, said: str) -> None:
    assert ahead(timedelta(minutes=minutes)) == said


def test_of_an_arn_the_telling_end_is_said() -> None:
    assert who("arn:aws:sts::123456789012:assumed-role/lab/ana") == "assumed-role/lab/ana"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2h", "2026-12-01T07:00Z"),
        ("1d12h", "2026-11-29T21:00Z"),
        ("17:00", "2026-12-01T09:00Z"),
        ("17:01", "2026-11-30T09:01Z"),
        ("mon 20:00", "2026-11-30T12:00Z"),
        ("tuesday 07:00", "2026-11-30T23:00Z"),
        ("tue 18:00", "2026-11-24T10:00Z"),
        ("2026-11-30 20:00", "2026-11-30T12:00Z"),
        ("2026-11-30T20:00Z", "2026-11-30T20:00Z"),
    ],
)
def test_a_past_time_is_a_span_or_the_last_one_of_its_kind(text: str, at: str) -> None:
    now = datetime(2026, 12, 1, 9, tzinfo=UTC)
    assert parse_past("--since", text, now, "Asia/Shanghai") == datetime.fromisoformat(at)


@pytest.mark.parametrize("text", ["", "soon", "0h", "2x", "25:00", "2026-13-01", "mon", "-2h", "2030-01-01"])
def test_a_past_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--since"):
        parse_past("--since", text, datetime(2026, 12, 1, 9, tzinfo=UTC), "Asia/Shanghai")


@given(
    st.text(max_size=20) | st.from_regex(r"(\d{1,4}[dhm]){1,3}|[a-z]{3} \d\d:\d\d", fullmatch=True),
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),
    st.sampled_from(["Asia/Shanghai", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe"]),
)
def test_whatever_is_given_becomes_a_past_time_or_is_refused(text: str, now: datetime, zone: str) -> None:
    try:
        at = parse_past("--since", text, now, zone)
    except UsageError:
        return
    assert at <= now


@given(
    st.integers(0, 23),
    st.integers(0, 59),
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),
    st.sampled_from(["Asia/Shanghai", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe"]),
)
def test_a_clock_time_is_at_most_a_day_and_a_clock_change_back(
    hour: int, minute: int, now: datetime, zone: str
) -> None:
    at = parse_past("--since", f"{hour}:{minute:02}", now, zone)
    assert timedelta() <= now - at <= timedelta(hours=26)

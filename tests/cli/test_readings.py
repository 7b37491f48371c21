"""check, shifts and forecast: what they print of the lab at a fixed time."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.cli.errors import UsageError
from nightshift.cli.strip import CELLS, DAYS, week_strip
from nightshift.cli.verb_forecast import parse_month
from nightshift.cli.verb_shifts import Facts, answer
from nightshift.plan.names import bucket_name
from nightshift.records.model import OverrideRecord
from nightshift.records.store import Records
from nightshift.settings.to_plan import calendar_of

Golden = Callable[[str, Any], None]
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


def test_shifts_are_told_at_a_glance(
    project: Any, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    project.take_shipped_lab()
    assert project.say("shifts", "--offline") == 0
    golden("shifts", capsys.readouterr().out.splitlines())


def test_a_forecast_says_the_sum_first(
    project: Any, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    project.take_shipped_lab()
    assert project.say("forecast") == 0
    golden("forecast", capsys.readouterr().out.splitlines())


def test_the_forecast_adds_up_and_names_a_source_for_every_line(
    project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert project.say("forecast", "--month", "2027-03", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["month"] == "2027-03"
    assert round(sum(line["usd"] for line in told["lines"]), 2) == told["usd"]
    assert all(line["source"] for line in told["lines"])
    assert told["low_usd"] <= told["usd"] <= told["high_usd"]
    assert told["usd"] < told["always_on_usd"]
    assert project.say("forecast", "--sources") == 0
    shown = capsys.readouterr().out
    assert "NOT COUNTED" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_high_end_beyond_the_budget_is_warned_of(project: Any, capsys: pytest.CaptureFixture[str]) -> None:
    text = project.file.read_text()
    for budget, warning in (
        ("9000", ""),
        ("1000", "warning  the high end, "),
        ("20", "warning  the sum to plan with, "),
    ):
        project.file.write_text(text.replace("monthly_usd: 600", f"monthly_usd: {budget}"))
        assert project.say("forecast") == 0
        told = capsys.readouterr().out
        assert ("warning" in told) == bool(warning)
        assert warning in told


def test_assumed_prices_are_said_at_the_top(project: Any, capsys: pytest.CaptureFixture[str]) -> None:
    text = project.file.read_text().replace("us-east-1", "eu-central-1")
    project.file.write_text(text)
    assert project.say("forecast") == 0
    told = capsys.readouterr().out.splitlines()
    assert "lines are assumed, from" in " ".join(told[1:3])
    assert max(map(len, told)) <= 80


def test_a_dst_night_is_flagged_and_still_fits(project: Any, capsys: pytest.CaptureFixture[str]) -> None:
    project.file.write_text(
        project.file.read_text()
        .replace("Asia/Shanghai", "America/New_York")
        .replace('from: "20:00", to: "07:00"', 'from: "02:30", to: "07:00"')
        .replace("days: [mon, wed, fri]", "days: [sun]")
    )
    project.env["NIGHTSHIFT_NOW"] = "2027-03-13T12:00:00Z"
    assert project.say("shifts", "--offline") == 0
    told = capsys.readouterr().out
    assert "Sun 2027-03-14 03:00 EDT  03-14 07:00Z  vit    up 1   clocks skip this time" in told
    assert max(map(len, told.splitlines())) <= 80


def test_an_override_in_force_is_shown(project: Any) -> None:
    held = OverrideRecord("down", NOW + timedelta(days=4), "arn:aws:iam::123456789012:user/ana", NOW)
    found = answer(Facts(project.stack, NOW, NOW + timedelta(weeks=1), {"vit": held}, None))
    told = "\n".join(found.lines)
    assert "override: down until Sat 2026-12-05" in told
    assert "up Wed 2026-12-02 20:00" not in told
    assert max(map(len, found.lines)) <= 80


def test_overrides_are_read_where_there_are_credentials(
    deployed: Callable[[str], Any], project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    bucket = bucket_name("lab", "data", "123456789012", "us-east-1")
    held = OverrideRecord("down", NOW + timedelta(days=4), "x:user/ana", NOW)
    Records(deployed("s3"), bucket).write_override("vit", held, None)
    assert project.say("shifts", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["overrides_read"] is True
    assert told["groups"][1]["override"]["state"] == "down"
    assert next(one["local"] for one in told["events"] if one["group"] == "vit").startswith(
        "Mon 2026-12-07 20:00"
    )


def test_without_credentials_shifts_answers_and_says_what_is_missing(
    project: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", str(project.root / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(project.root / "none"))
    assert project.say("shifts") == 0
    assert "overrides weren't read: no AWS credentials" in capsys.readouterr().out


def test_the_strip_has_a_character_for_every_three_hours(project: Any) -> None:
    calendars = {name: calendar_of(project.stack.site, group) for name, group in project.stack.groups.items()}
    head, desk, vit, legend = week_strip(calendars, NOW, "Asia/Shanghai")
    assert head.split()[:4] == ["Tue", "1", "Wed", "2"]
    assert desk.split()[1] == "...###.." * 4 + "." * 16 + "...###.."
    assert len(vit.split()[1]) == DAYS * CELLS
    assert "3 hours" in legend


@given(st.text(max_size=10))
def test_any_text_is_a_month_or_refused(text: str) -> None:
    try:
        year, month = parse_month(text, NOW)
    except UsageError:
        return
    assert 2000 <= year <= 2099
    assert 1 <= month <= 12


def test_check_says_fine_or_every_problem(project: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert project.say("check") == 0
    assert "stack lab: fine: 2 groups, 2 volumes, 1 snapshot policy in us-east-1a" in capsys.readouterr().out
    project.file.write_text(
        project.file.read_text().replace("tier: small", "tier: smal").replace("keep: 7", "keep: 0")
    )
    assert project.say("check", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert len(told["problems"]) == 2
    assert project.say("shifts", "--json") == 1
    again = json.loads(capsys.readouterr().out)["error"]["lines"]
    assert again[1:] == told["problems"]


def test_check_warns_of_what_is_allowed_and_probably_not_meant(
    project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    project.file.write_text(project.file.read_text().replace('at_utc: "07:00"', 'at_utc: "13:00"'))
    assert project.say("check") == 0
    told = capsys.readouterr().out
    assert "warning  snapshots.nightly: may start while vit writes to runs" in told
    assert max(map(len, told.splitlines())) <= 80

"""docs/cli.md shows what the verbs really print, and names every key of their JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from nightshift.cli import verb_connect, verb_logs
from nightshift.cli.main import VERBS
from nightshift.rehearsal.deploy import DeployReport

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
ONLINE = {
    "status": [],
    "hold": ["vit", "--until", "mon 09:00", "--dry-run"],
    "wake": ["vit", "--for", "3h", "--dry-run"],
    "sleep": ["vit", "--dry-run"],
    "resume": ["vit", "--dry-run"],
    "restore": ["runs"],
    "pin": [],
    "doctor": [],
}


@pytest.mark.parametrize("name", ["status", "shifts", "forecast", "connect", "logs", "restore", "drill"])
def test_the_page_shows_what_is_printed(name: str) -> None:
    printed = (Path(__file__).with_name("golden") / f"{name}.txt").read_text(encoding="utf-8")
    assert f"```\n{printed}```" in PAGE


def test_every_verb_has_its_row() -> None:
    assert all(re.search(rf"^\| `{verb}\b", PAGE, re.M) for verb in VERBS)


def _documented(verb: str) -> set[str]:
    row = next(
        line
        for line in PAGE.partition("## JSON")[2].splitlines()
        if re.match(rf"\| (?:`\w+`, )*`{verb}`(?:, `\w+`)* \|", line)
    )
    return set(re.findall(r"`(\w+)(?:\[[^`]*\])?`", row.split("|")[2]))


@pytest.mark.parametrize("verb", ["check", "shifts", "forecast"])
def test_every_key_of_an_offline_answer_is_documented(
    project: Any, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    words = [verb, "--offline", "--json"] if verb == "shifts" else [verb, "--json"]
    assert project.say(*words) == 0
    assert set(json.loads(capsys.readouterr().out)) == _documented(verb)


@pytest.mark.parametrize("verb", ONLINE)
def test_every_key_of_an_online_answer_is_documented(
    deployed: Callable[[str], Any], project: Any, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    assert project.say(verb, *ONLINE[verb], "--json") in (0, 1)
    assert set(json.loads(capsys.readouterr().out)) == _documented(verb)


def test_every_key_of_a_session_is_documented(project: Any) -> None:
    words = verb_connect._data(project.stack, "vit", "i-1", None, [])
    assert set(words) == _documented("connect")


def test_every_key_of_a_log_is_documented(project: Any) -> None:
    asked = verb_logs.Asked("vit", datetime(2026, 12, 1, tzinfo=UTC), None, 1)
    assert set(verb_logs._as_data(project.stack, asked, iter(())).data) == _documented("logs")


def test_every_key_of_a_rehearsal_is_documented() -> None:
    assert set(DeployReport("lab").data()) == _documented("rehearse")

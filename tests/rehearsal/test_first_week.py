"""The week that `make try` plays, and what its page says of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from nightshift.rehearsal import first_week
from nightshift.rehearsal.fleets import UnknownGroup, real_group
from nightshift.rehearsal.front_door import Seen, page
from nightshift.rehearsal.story import GroupInfo, Story
from nightshift.settings import read_stack
from nightshift.settings.models import Stack
from tests.rehearsal.test_front_door import _report

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


def stack(name: str) -> Stack:
    return read_stack(ROOT / "stacks" / f"Pulumi.{name}.yaml")


@pytest.mark.parametrize(
    ("name", "faults"),
    [
        ("rehearsal", ["spot@fri+3h"]),
        ("lab", ["spot@fri+3h"]),
        ("solo", ["crash@wed+3h"]),
    ],
)
def test_a_fault_strikes_in_the_second_shift_of_the_coming_week(name: str, faults: list[str]) -> None:
    plan = first_week.plan_of(stack(name), NOW)
    assert plan.end - plan.start == 604_800
    assert [fault.name for fault in plan.faults] == faults


@pytest.mark.parametrize("name", ["rehearsal", "lab", "solo", "team", "cluster"])
def test_every_shipped_stack_has_a_week_with_a_fault(name: str) -> None:
    assert len(first_week.plan_of(stack(name), NOW).faults) == 1


def test_a_week_without_a_shift_has_no_fault() -> None:
    assert first_week.fault_in(stack("rehearsal"), 0, 3_600) == []


def test_the_real_group_is_the_one_named_else_the_first_with_a_job() -> None:
    groups = stack("lab").groups
    assert next(iter(groups)) == "desk"
    assert real_group(groups, None) == "vit"
    assert real_group(groups, "desk") == "desk"
    assert real_group(groups, "none") is None
    with pytest.raises(UnknownGroup, match='given "vti", no such group; there are desk, vit, and "none"'):
        real_group(groups, "vti")


def test_the_page_tells_the_week_and_where_its_report_lies(tmp_path: Path) -> None:
    wanted = stack("rehearsal")
    groups = {"train": GroupInfo("America/New_York", "spot: g6.xlarge", 1, (), 1_800)}
    says = "Nodes of train can't be real here: it needs root. " * 4
    story = Story("rehearsal", 1, 0, 604_800, "America/New_York", groups, seconds=61.0, compressed=says)
    path = first_week.keep(story, tmp_path, print)
    assert path is not None
    lines = page(wanted, _report(), Seen(), NOW, Path("x"), story, path)
    told = " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= 80
    assert "Report rehearsal.html: open it in a browser" in told
    assert "can't be real here: it needs root" in told
    assert "week 61 s" in told
    assert path.read_text().startswith("<!DOCTYPE html>")


def test_a_report_that_cannot_be_written_is_said_and_the_page_is_told_all_the_same(tmp_path: Path) -> None:
    told: list[str] = []
    groups = {"train": GroupInfo("America/New_York", "spot: g6.xlarge", 1, (), 1_800)}
    story = Story("rehearsal", 1, 0, 604_800, "America/New_York", groups, seconds=61.0)
    path = first_week.keep(story, tmp_path / "gone", told.append)
    assert path is None
    (line,) = told
    assert line.startswith("problem: the report could not be written")
    assert "No such file or directory" in line
    lines = page(stack("rehearsal"), _report(), Seen(), NOW, Path("x"), story, path)
    assert "week 61 s" in " ".join(" ".join(lines).split())

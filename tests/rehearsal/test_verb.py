"""`nightshift rehearse` of weeks: on a kept world, with its report, and wrong use told whole."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nightshift.cli.context import Context
from nightshift.cli.main import run
from nightshift.cli.rehearsed import whole
from nightshift.cli.rehearsing import quiet
from nightshift.rehearsal.deploy import DeployReport
from nightshift.rehearsal.expect import windows
from nightshift.rehearsal.weeks import rehearse
from tests.rehearsal.support.record import WORLDS
from tests.rehearsal.support.sites import DAY, MONDAY, lab, plan
from tests.rehearsal.support.stacks import ROOT, shipped

NOW = "2026-12-07T00:00:00Z"


@pytest.fixture
def here(tmp_path: Path) -> Context:
    """The project, and a kept world of the lab in the current folder."""
    (tmp_path / "stacks").mkdir()
    shutil.copyfile(ROOT / "Pulumi.yaml", tmp_path / "Pulumi.yaml")
    shutil.copyfile(ROOT / "stacks" / "Pulumi.lab.yaml", tmp_path / "stacks" / "Pulumi.lab.yaml")
    shutil.copyfile(WORLDS / "lab.json", tmp_path / "lab.json")
    shutil.copyfile(WORLDS / "solo.json", tmp_path / "solo.json")
    return Context(cwd=tmp_path, env={"HOME": "/nonexistent", "NIGHTSHIFT_NOW": NOW}, say=lambda _: None)


CONTROL = ["rehearse", "--stack", "lab", "--only", "control", "--world", "lab.json"]


def test_a_week_with_named_faults_ends_fine_and_writes_its_report(
    here: Context, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*CONTROL, "--faults", "spot@wed+3h,ice@mon:desk", "--report", "out/week.html", "--json"]
    assert run(words, here) == 0
    told = json.loads(capsys.readouterr().out)
    assert [fault["fault"] for fault in told["faults"]] == ["ice@mon:desk", "spot@wed+3h"]
    assert told["invariants_broken"] == []
    assert (told["seed"], told["weeks"], told["real_nodes"], told["two_writer_seconds"]) == (1, 1, 0, 0)
    assert told["steps_trained"] > 100_000
    page = (here.cwd / "out" / "week.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")


def test_a_number_of_faults_is_chosen_by_the_seed_and_fits_the_terminal(
    here: Context, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*CONTROL, "--faults", "5", "--seed", "3", "--weeks", "2"], here) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("faults   5 of 5") for line in lines)
    assert lines[-1] == "no report was written: add --report week.html for one"


def test_it_begins_when_no_group_is_up() -> None:
    stack = shipped("lab")
    start = quiet(stack, MONDAY + 5 * 3_600)
    assert start == MONDAY + 10 * 3_600
    for name in stack.groups:
        spans = windows(stack, name, start, start + DAY)
        assert not any(first <= start < last for first, last in spans)
    assert quiet(stack, MONDAY) == MONDAY


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["--weeks", "x", "--seed", "-", "--faults", "spit@tue"],
            ["--weeks", "--seed", 'did you mean "spot"?'],
        ),
        (["--weeks", "0"], ["more than 0"]),
        (["--weeks", "54"], ["53 at most"]),
        (["--from", "soon"], ["--from"]),
        (["--faults", "spot@tue"], ["vit has shifts on mon, wed, fri"]),
        (["--faults", "201"], ["200 at most"]),
        (["--world", "solo.json"], ["the world of solo, not of lab"]),
        (["--world", "stacks"], ["--world: stacks"]),
        (["--world", "Pulumi.yaml"], ["--world: Pulumi.yaml"]),
        (["--report", "/proc/nowhere/x.html"], ["--report"]),
        (["--stay"], ["--stay: only with --only deploy"]),
    ],
)
def test_wrong_use_says_everything_that_is_wrong(
    here: Context, capsys: pytest.CaptureFixture[str], words: list[str], says: list[str]
) -> None:
    assert run([*CONTROL, *words], here) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert all(one in told for one in says), told
    assert "Traceback" not in told


def test_a_world_is_kept_by_the_control_part_only(here: Context, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rehearse", "--stack", "lab", "--world", "lab.json"], here) == 2
    assert "--world: only with --only control" in capsys.readouterr().err


@pytest.mark.engine
@pytest.mark.xdist_group("rehearsal")
def test_the_whole_rehearsal_deploys_plays_a_week_and_destroys(
    capsys: pytest.CaptureFixture[str],
) -> None:
    context = Context(cwd=ROOT, env={"HOME": "/nonexistent", "NIGHTSHIFT_NOW": NOW}, say=lambda _: None)
    assert run(["rehearse", "--stack", "rehearsal", "--faults", "spot@wed+3h", "--json"], context) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["deploy"]["problems"] == []
    assert told["provider"]
    assert told["ok"]
    assert [rule["checked"] for rule in told["invariants"] if rule["name"] == "nothing-left"] == [2]


def test_the_deployments_own_destroy_is_told_where_it_is_counted() -> None:
    stack, world = lab()
    played = rehearse(stack, world, plan())
    told = whole(DeployReport("lab", left=[]), played)
    (before,) = [rule for rule in played.invariants if rule.name == "nothing-left"]
    (after,) = [rule for rule in told.invariants if rule.name == "nothing-left"]
    assert (before.checked, after.checked) == (1, 2)
    assert after.looked_at == (
        "the destroy after the rehearsed time, what the engine's destroy left of the deployment"
    )

"""`nightshift rehearse` of weeks: on a kept world, with its report, and wrong use told whole."""

from __future__ import annotations

import argparse
import errno
import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.cli.context import Context
from nightshift.cli.main import run
from nightshift.cli.rehearsed import whole
from nightshift.cli.rehearsing import options, plan_of, quiet, read
from nightshift.rehearsal.deploy import DeployReport
from nightshift.rehearsal.expect import windows
from nightshift.rehearsal.replay import command
from nightshift.rehearsal.weeks import rehearse
from nightshift.rehearsal.world.kept import program_digest, to_text
from nightshift.rehearsal.world.model import World
from tests.rehearsal.support.record import WORLDS, recorded
from tests.rehearsal.support.sites import DAY, MONDAY, lab, plan
from tests.rehearsal.support.stacks import ROOT, shipped

NOW = "2026-12-07T00:00:00Z"


@pytest.fixture
def here(tmp_path: Path) -> Context:
    """The project, and a kept world of the lab in the current folder."""
    (tmp_path / "stacks").mkdir()
    shutil.copyfile(ROOT / "Pulumi.yaml", tmp_path / "Pulumi.yaml")
    shutil.copyfile(ROOT / "stacks" / "Pulumi.lab.yaml", tmp_path / "stacks" / "Pulumi.lab.yaml")
    shutil.copyfile(WORLDS / "solo.json", tmp_path / "bare.json")
    for name in ("lab", "solo"):
        (tmp_path / f"{name}.json").write_text(to_text(recorded(name), shipped(name), tmp_path), "utf-8")
    return Context(cwd=tmp_path, env={"HOME": "/nonexistent", "NIGHTSHIFT_NOW": NOW}, say=lambda _: None)


CONTROL = ["rehearse", "--stack", "lab", "--only", "control", "--world", "lab.json"]


def test_a_week_with_named_faults_ends_fine_and_writes_its_report(
    here: Context, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*CONTROL, "--faults", "spot@wed+3h,ice@mon:desk", "--report", "out/week.html", "--json"]
    (here.cwd / "out").mkdir()
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
        (["--weeks", "0"], ["from 0.006 (an hour) to 53"]),
        (["--weeks", "0.000001"], ["from 0.006 (an hour) to 53"]),
        (["--weeks", "0.1234567"], ["6 decimals at most"]),
        (["--weeks", "54"], ["from 0.006 (an hour) to 53"]),
        (["--seed", "9999999999"], ["a whole number, 0 to 999999999"]),
        (["--from", "soon"], ["--from"]),
        (["--from", "9999-12-31"], ["a year from 2000 to 2099"]),
        (["--from", "9999-12-31T23:59Z"], ["a year from 2000 to 2099"]),
        (["--from", "0001-01-01"], ["a year from 2000 to 2099"]),
        (["--from", "1969-12-31"], ["a year from 2000 to 2099"]),
        (["--from", "2026-02-30"], ['expected such as "2026-12-07"']),
        (["--faults", "9" * 5_000], ["200 at most"]),
        (["--faults", "spot@tue"], ["vit has shifts on mon, wed, fri"]),
        (["--faults", "201"], ["200 at most"]),
        (["--world", "solo.json"], ["the world of solo, not of lab"]),
        (["--world", "stacks"], ["stacks: Is a directory"]),
        (["--world", "Pulumi.yaml"], ["Pulumi.yaml: it is no world of this release", "delete that file"]),
        (["--world", "bare.json"], ["bare.json: it is no world of this release", "delete that file"]),
        (["--world", "none/w.json"], ["none isn't a folder that is there"]),
        (["--world", "/proc/w.json"], ["--world: /proc/w.json"]),
        (["--report", "/proc/nowhere/x.html"], ["--report: /proc/nowhere isn't a folder"]),
        (["--report", "stacks"], ["stacks is a folder"]),
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


@pytest.mark.parametrize("begin", ["2000-01-01", "2099-12-31"])
def test_the_first_and_the_last_day_can_be_played(
    here: Context, capsys: pytest.CaptureFixture[str], begin: str
) -> None:
    assert run([*CONTROL, "--from", begin, "--json"], here) == 0
    assert json.loads(capsys.readouterr().out)["invariants_broken"] == []


@given(st.integers(3_629, 53 * 604_800), st.integers(0, 999_999_999), st.integers(MONDAY // 60, 4 * 10**7))
def test_a_replay_asks_for_the_same_seconds_and_seed(seconds: int, seed: int, minute: int) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--stack")
    parser.add_argument("--only")
    options(parser)
    line = command("lab", minute * 60, minute * 60 + seconds, seed, ())
    asked = read(parser.parse_args(line.split()[2:]), "Asia/Shanghai")
    plan = plan_of(asked, shipped("lab"), datetime(2026, 12, 7, tzinfo=UTC))
    assert (plan.start, plan.end, plan.seed) == (minute * 60, minute * 60 + seconds, seed)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("tier: small", "tier: xlarge", "groups.desk.tier: small then, xlarge now"),
        ('from: "09:00"', 'from: "10:00"', "groups.desk.shifts[0].start: 09:00 then, 10:00 now"),
        ("    desk:\n", "    bank:\n", "groups.desk: there then, not now"),
    ],
)
def test_a_world_older_than_the_stack_file_is_refused_with_what_differs(
    here: Context, capsys: pytest.CaptureFixture[str], before: str, after: str, says: str
) -> None:
    file = here.cwd / "stacks" / "Pulumi.lab.yaml"
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after, 1), encoding="utf-8")
    assert run(CONTROL, here) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert says in told
    assert "delete that file, or name another one" in told


def test_a_world_of_another_version_of_the_program_is_refused(
    here: Context, capsys: pytest.CaptureFixture[str]
) -> None:
    before = program_digest(here.cwd)
    (here.cwd / "infra").mkdir()
    (here.cwd / "infra" / "__main__.py").write_text("", encoding="utf-8")
    assert program_digest(here.cwd) != before
    assert run(CONTROL, here) == 2
    assert "deployed by another version of the program" in " ".join(capsys.readouterr().err.split())


def test_a_new_world_is_kept_and_fits_the_stack_that_it_was_deployed_from(
    here: Context, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    deployed: list[str] = []

    def deploy(*_: object) -> World:
        deployed.append("once")
        return recorded("lab")

    monkeypatch.setattr("nightshift.rehearsal.deployed.deployed_world", deploy)
    words = [*CONTROL[:-1], "new.json"]
    assert [run(words, here), run(words, here)] == [0, 0]
    assert deployed == ["once"]
    assert capsys.readouterr().err == ""


def test_what_was_deployed_is_played_also_where_its_world_cannot_be_kept(
    here: Context, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    there = sorted(here.cwd.iterdir())
    monkeypatch.setattr("nightshift.rehearsal.deployed.deployed_world", lambda *_: recorded("lab"))
    monkeypatch.setattr("nightshift.cli.writing.os.fsync", full)
    assert run([*CONTROL[:-1], "new.json"], here) == 1
    flat = " ".join(capsys.readouterr().out.split())
    assert flat.startswith("lab: one week from Mon 7 Dec")
    assert "problem the world could not be kept in" in flat
    assert sorted(here.cwd.iterdir()) == there


def test_a_report_that_cannot_be_written_leaves_the_summary_and_the_file_before(
    here: Context, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    old = here.cwd / "week.html"
    old.write_text("of last week", encoding="utf-8")
    there = sorted(here.cwd.iterdir())
    monkeypatch.setattr("nightshift.cli.writing.os.fsync", full)
    assert run([*CONTROL, "--report", "week.html"], here) == 1
    told = capsys.readouterr().out
    flat = " ".join(told.split())
    assert flat.startswith("lab: one week from Mon 7 Dec")
    assert "problem the report could not be written" in flat
    assert "No space left on device" in flat
    assert "into another folder: nightshift rehearse --only control" in flat
    assert all(len(line) <= 80 or str(here.cwd) in line for line in told.splitlines())
    assert old.read_text(encoding="utf-8") == "of last week"
    assert sorted(here.cwd.iterdir()) == there


def test_what_is_refused_makes_no_file_and_no_folder(here: Context) -> None:
    there = sorted(here.cwd.rglob("*"))
    assert run([*CONTROL, "--faults", "spot@tue", "--report", "week.html"], here) == 2
    assert run([*CONTROL, "--report", "new/week.html"], here) == 2
    assert sorted(here.cwd.rglob("*")) == there


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

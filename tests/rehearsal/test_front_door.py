"""What `make try` ends with."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from nightshift.rehearsal.deploy import DeployReport
from nightshift.rehearsal.finding import TourFinding
from nightshift.rehearsal.front_door import Seen, main, page
from nightshift.rehearsal.left import Left
from nightshift.settings import read_stack

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


def _report() -> DeployReport:
    return DeployReport(
        "lab",
        provider="terraform-provider-aws behind pulumi-terraform-bridge 3.120.0",
        provider_version="5.100.0",
        created=79,
        changed_second_up=0,
        changed_refresh=0,
        tour=[TourFinding(True, "volumes", "2")] * 23,
        left=[Left("volume", "vol-0abc0000000000001 (runs)", True)],
        seconds={"engine": 0.5, "cloud": 2.4, "up": 31.0, "second_up": 9.0, "total": 61.0},
    )


@pytest.mark.parametrize("name", ["rehearsal", "lab", "solo", "team", "cluster"])
def test_the_page_answers_what_stands_when_it_wakes_what_it_costs_and_where_to_go(name: str) -> None:
    stack = read_stack(ROOT / "stacks" / f"Pulumi.{name}.yaml")
    lines = page(stack, _report(), Seen(("a" * 80, "short"), 0.8), NOW, Path(f"stacks/Pulumi.{name}.yaml"))
    told = "\n".join(lines)
    assert max(map(len, lines)) <= 80
    assert "79 resources" in told
    assert "Wakes next" in told
    assert "USD in December 2026" in told
    assert "terraform-provider-aws 5.100.0 behind pulumi-terraform-bridge 3.120.0" in " ".join(told.split())
    assert "pulumi stack init mylab" in told
    assert " ".join(lines).endswith("look at `nightshift status`.")
    assert "a second up changed 0, a refresh 0" in told
    assert "total 61 s" in told
    assert "-s lab" not in told
    words = ("cp stacks/", "shifts", "forecast", "pin", "check", "doctor", "pulumi stack init", "pulumi up")
    steps = [told.index(f" {word}", told.index("From here")) for word in words]
    assert steps == sorted(steps)
    assert "pin -s mylab --write" in told
    assert "pulumi up -s mylab" in told


def test_a_group_in_its_shift_says_until_when_and_when_again() -> None:
    stack = read_stack(ROOT / "stacks" / "Pulumi.lab.yaml")
    told = " ".join(" ".join(page(stack, _report(), Seen(), NOW, Path("x"))).split())
    assert "desk is in its shift until Tue 2026-12-01 18:00 CST, then at Wed 2026-12-02 09:00 CST" in told
    assert "vit at Wed 2026-12-02 20:00 CST, in 27 h" in told


def test_problems_take_the_pages_place() -> None:
    stack = read_stack(ROOT / "stacks" / "Pulumi.lab.yaml")
    broken = DeployReport("lab", failed="up failed: no")
    assert page(stack, broken, Seen(), NOW, Path("x")) == ["", "problem  up failed: no"]


def test_an_unknown_stack_is_told_in_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["--stack", "nope"]) == 2
    assert "no stack 'nope'" in capsys.readouterr().err

"""docs/stack-file.md shows a file that `check` accepts, and problems in the words that it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nightshift.cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "stack-file.md").read_text(encoding="utf-8")
EXAMPLE = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]


def checked(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """The status of `nightshift check` on a project that holds this stack file alone."""
    (folder / "stacks").mkdir()
    (folder / "Pulumi.yaml").write_bytes((ROOT / "Pulumi.yaml").read_bytes())
    (folder / "stacks" / "Pulumi.lab.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    return main(["check", "--stack", "lab"])


def test_the_smallest_file_is_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert checked(tmp_path, EXAMPLE, monkeypatch) == 0


def test_the_problems_are_those_that_check_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = EXAMPLE.replace('to: "07:00"', "to: 7").replace("tier:", "runtme: torch-2.8-cu128, tier:")
    assert checked(tmp_path, broken, monkeypatch) == 1
    said = capsys.readouterr()
    assert f"```\n{(said.out + said.err).rstrip()}\n```" in PAGE

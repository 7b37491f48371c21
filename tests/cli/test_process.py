"""The command as a shell meets it: locales, closed and full outputs, a folder that is gone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nightshift.cli.context import Context
from nightshift.cli.errors import UsageError
from tests.cli.conftest import LAB

COMMAND = f'exec "{sys.executable}" -m nightshift.cli.main check'
HERE = Path(__file__).parents[2]


def shell(root: Path, command: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run `command` in a shell in `root`, with a stack that has a letter beyond ASCII in a wrong place."""
    (root / "stacks").mkdir(exist_ok=True)
    (root / "Pulumi.yaml").write_text("name: nightshift\nruntime: python\n")
    (root / "stacks" / "Pulumi.lab.yaml").write_text(LAB.replace("owner: vision", "owner: visiön"), "utf-8")
    known = {"PATH": os.environ["PATH"], "PYTHONPATH": str(HERE), **env}
    return subprocess.run(
        ["sh", "-c", command], cwd=root, env=known, capture_output=True, text=True, check=False
    )


def test_a_locale_without_the_letter_gets_it_escaped(tmp_path: Path) -> None:
    done = shell(tmp_path, COMMAND, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (1, "")
    assert "visi\\xf6n" in done.stdout


def test_a_closed_output_is_no_traceback(tmp_path: Path) -> None:
    done = shell(tmp_path, f"{COMMAND} >&-")
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only where the kernel has /dev/full")
def test_a_full_disk_is_said(tmp_path: Path) -> None:
    done = shell(tmp_path, f"{COMMAND} >/dev/full")
    assert done.returncode == 1
    assert done.stderr == "nightshift: the answer can't be written: No space left on device\n"


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    done = shell(tmp_path, f"mkdir gone && cd gone && rmdir ../gone && {COMMAND}")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "nightshift: the current folder is gone: go to the project's folder\n"


def test_a_question_into_a_closed_input_says_how_to_answer_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python has no stdin at all then."""
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="Nobody is here to answer: say --yes"):
        Context().ask("Go on?")


@pytest.mark.parametrize("year", ["0001", "1969", "2200", "9999"])
def test_a_fixed_clock_beyond_every_calendar_is_refused(year: str) -> None:
    with pytest.raises(UsageError, match="expected a year from 1970 to 2199"):
        Context(env={"NIGHTSHIFT_NOW": f"{year}-01-01T00:00:00Z"}).now()

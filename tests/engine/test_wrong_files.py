"""Wrong stack files by the real engine: `up` says what `nightshift check` says, and nothing is made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nightshift.emulator.engine.errors import WorkspaceError
from tests.engine.conftest import Deploy
from tests.engine.support.looking import everything
from tests.engine.support.site import Deployed
from tests.settings.test_wrong_written import WRONG, cases, whole_file

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("engine-lost")]
SAMPLED = {
    "names": ("keys misspelt on every level", "names of twenty characters are the limit"),
    "rules": (),
    "scalars": ("a time that is a float", "on for a switch", "a number with a unit"),
    "yaml": (
        "a tab as indentation",
        "a key twice in one mapping",
        "an anchor that nobody set",
        "a topic with and without its namespace",
    ),
}
EVERY = 9
"""Of the rules, which are many, each ninth."""


def sample(file: Path) -> list[tuple[str, str, tuple[str, ...]]]:
    """The chosen cases of one file."""
    found = list(cases(file))
    chosen = [case for case in found if case[0] in SAMPLED.get(file.stem, ())] or found[::EVERY]
    assert len(chosen) >= len(SAMPLED.get(file.stem, ()))
    return chosen


@pytest.fixture(scope="module")
def site(deploy: Deploy) -> Deployed:
    return deploy("lab")


def test_up_says_what_check_says_and_makes_nothing(site: Deployed) -> None:
    before = everything(site)
    chosen = [(file.stem, *case) for file in sorted(WRONG.glob("*.txt")) for case in sample(file)]
    assert len(chosen) >= 10
    for kind, title, text, says in chosen:
        _refused_alike(site, f"{kind}: {title}", whole_file(text), says)
    assert everything(site) == before
    assert [urn.split("::")[2] for urn in site.resources()] in ([], ["pulumi:pulumi:Stack"])


def _refused_alike(site: Deployed, title: str, text: str, says: tuple[str, ...]) -> None:
    site.project.file.write_text(text, encoding="utf-8")
    if says[0].startswith("Pulumi.lab.yaml: "):
        _given_unread(site, text, says[0])
    else:
        site.workspace.write_config()
    result = site.workspace.up()
    assert result.exit_code != 0, title
    assert "Traceback" not in result.output, title
    code, told = _check(site)
    assert code == 1, title
    up = " ".join(result.output.split())
    if not says[0].startswith("Pulumi.lab.yaml: "):
        assert [line for line in says if " ".join(line.split()) not in up] == [], title
    assert [line for line in says if " ".join(line.split()) not in told] == [], title


def _given_unread(site: Deployed, text: str, says: str) -> None:
    """The emulator copies no file that it can't read; the engine gets the text itself here."""
    with pytest.raises(WorkspaceError) as refused:
        site.workspace.write_config()
    assert str(refused.value) == says
    site.workspace.config_file.write_text(text, encoding="utf-8")


def _check(site: Deployed) -> tuple[int, str]:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("nightshift")), "check", "--stack", "lab"],
        cwd=site.project.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done.returncode, " ".join((done.stdout + done.stderr).split())

"""What a login shell finds first: the runtime's Python, for people and not for root."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bootstrap.people.shells import PROFILE, profile, write_profile

PYTHON = Path("/opt/night shift/0123/bin/python3.12")


def test_the_file_is_whole_and_can_be_read_by_all(tmp_path: Path) -> None:
    write_profile(Path("/first/bin/python3"), tmp_path)
    write_profile(PYTHON, tmp_path)
    path = tmp_path / PROFILE
    assert path.read_text() == profile(PYTHON)
    assert path.stat().st_mode & 0o777 == 0o644
    assert [each.name for each in path.parent.iterdir()] == ["nightshift.sh"]


@pytest.mark.node
@pytest.mark.parametrize(("number", "first"), [(1000, "/opt/night shift/0123/bin"), (999, "/usr/bin")])
def test_a_shell_of_a_person_has_it_first_and_one_of_the_system_does_not(
    tmp_path: Path, number: int, first: str
) -> None:
    if os.getuid() != 0:
        pytest.skip("only root becomes others")
    command = f'{profile(PYTHON)}echo "$PATH"'
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        user=number,
        env={"PATH": "/usr/bin:/bin"},
        check=True,
        stdout=subprocess.PIPE,
    )
    assert done.stdout.decode().split(":")[0] == first

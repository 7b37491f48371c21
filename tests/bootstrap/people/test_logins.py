"""Logins made one after the other: by commands that are only noted, and by real ones in a root apart."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from bootstrap.commands import Ran, run
from bootstrap.people.accounts import Login
from bootstrap.people.logins import Ground, make_logins
from nightshift.plan.people import uid_of
from tests.bootstrap.notebook.support.desk import accounts_of_this_machine

PASSWD = "root:x:0:0:root:/root:/bin/bash\nubuntu:x:1000:1000::/home/ubuntu:/bin/bash\n"
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")


class Noted:
    """Runs nothing; the commands that begin with a word of `fail` go wrong."""

    def __init__(self, *fail: str) -> None:
        self.did: list[list[str]] = []
        self.fail = fail

    def __call__(self, command: list[str], _limit_s: float) -> Ran:
        self.did.append(command)
        if command[0] in self.fail and command[-1] == "ada":
            return Ran(1, "", "useradd: cannot lock /etc/passwd", 0.1)
        return Ran(0, "", "", 0.1)


@pytest.fixture(name="ground")
def _ground(tmp_path: Path) -> Ground:
    """A machine with a volume `home`, mounted, and a root for accounts."""
    (tmp_path / "root" / "etc").mkdir(parents=True)
    (tmp_path / "root" / "etc" / "passwd").write_text(PASSWD)
    (tmp_path / "root" / "etc" / "group").write_text("root:x:0:\nubuntu:x:1000:\n")
    (tmp_path / "data" / "home").mkdir(parents=True)
    (tmp_path / "proc" / "self").mkdir(parents=True)
    line = f"36 35 259:1 / {tmp_path}/data/home rw - xfs /dev/nvme1n1 rw\n"
    (tmp_path / "proc" / "self" / "mountinfo").write_text(line)
    return Ground(
        ("home",), tmp_path / "data", tmp_path / "proc", tmp_path / "root", tmp_path / "none", Noted()
    )


def noted(ground: Ground) -> list[list[str]]:
    assert isinstance(ground.run, Noted)
    return ground.run.did


@needs_root
def test_everybody_gets_a_login_and_a_home_whatever_the_order(ground: Ground) -> None:
    made = make_logins(("grace", "ada"), ground)
    assert made.problems == []
    assert made.logins == [Login(name, uid_of(name), ground.homes / name) for name in ("ada", "grace")]
    assert [each[0] for each in noted(ground)] == ["groupadd", "useradd"] * 2
    assert {each.name: each.stat().st_uid for each in ground.homes.iterdir()} == {
        "ada": uid_of("ada"),
        "grace": uid_of("grace"),
    }


def test_a_volume_that_is_not_mounted_gets_no_homes_beside_it(ground: Ground, tmp_path: Path) -> None:
    (tmp_path / "proc" / "self" / "mountinfo").write_text("")
    made = make_logins(("ada", "grace"), ground)
    assert [(each.name, each.found) for each in made.problems] == [("ada, grace", "nothing mounted")]
    assert made.logins == []
    assert list(ground.homes.iterdir()) == []
    assert noted(ground) == []


@needs_root
def test_a_login_that_cannot_be_made_keeps_no_other_from_being_made(ground: Ground) -> None:
    ground = replace(ground, run=Noted("useradd"))
    made = make_logins(("ada", "grace"), ground)
    assert [each.name for each in made.logins] == ["grace"]
    (problem,) = made.problems
    assert (problem.name, "cannot lock /etc/passwd" in problem.found) == ("ada", True)


@needs_root
def test_a_home_that_another_number_owns_is_followed_and_said(ground: Ground) -> None:
    (ground.homes / "ada").mkdir()
    os.chown(ground.homes / "ada", 1234, 1234)
    made = make_logins(("ada", "grace"), ground)
    assert made.logins[0] == Login("ada", 1234, ground.homes / "ada")
    assert made.says == [
        f"ada has number 1234 here and not {uid_of('ada')}, since {ground.homes}/ada is owned by it"
    ]


@needs_root
def test_a_home_of_an_account_of_the_image_is_taken_over_and_said_with_what_to_do(ground: Ground) -> None:
    (ground.homes / "ada").mkdir()
    os.chown(ground.homes / "ada", 1000, 1000)
    made = make_logins(("ada",), ground)
    assert made.logins == [Login("ada", uid_of("ada"), ground.homes / "ada")]
    (says,) = made.says
    assert "was owned by number 1000" in says
    assert f"`chown -R ada: {ground.homes}/ada` as root" in says


@needs_root
def test_without_a_volume_homes_are_said_to_be_lost_with_the_node(ground: Ground) -> None:
    made = make_logins(("ada",), replace(ground, volumes=()))
    assert made.logins[0].home == ground.accounts / "home" / "ada"
    assert made.says == [
        f"the group mounts no volume: homes in {ground.accounts}/home are gone with the node"
    ]


def test_a_file_in_a_homes_place_is_a_problem_of_that_login_alone(ground: Ground) -> None:
    (ground.homes / "ada").write_text("")
    made = make_logins(("ada",), ground)
    (problem,) = made.problems
    assert (problem.name, problem.found) == ("ada", "something else")


def test_accounts_that_cannot_be_read_are_a_problem_in_words(ground: Ground) -> None:
    (ground.accounts / "etc" / "passwd").unlink()
    made = make_logins(("ada",), ground)
    assert "passwd" in made.problems[0].found


@pytest.mark.node
@needs_root
def test_the_machines_own_commands_make_logins_in_another_root_and_leave_this_one_alone(
    ground: Ground,
) -> None:
    if shutil.which("useradd") is None:
        pytest.skip("needs useradd")
    before = accounts_of_this_machine()
    etc = ground.accounts / "etc"
    (etc / "shadow").write_text("root:*:19000:0:99999:7:::\nubuntu:!:19000:0:99999:7:::\n")
    (etc / "gshadow").write_text("root:*::\nubuntu:!::\n")
    (etc / "login.defs").write_text("UID_MAX 60000\nGID_MAX 60000\n")
    real = replace(ground, run=run)
    first = make_logins(("ada", "grace"), real)
    texts = {name: (etc / name).read_text() for name in ("passwd", "group", "shadow")}
    again = make_logins(("grace", "ada"), real)
    assert accounts_of_this_machine() == before
    assert (first.problems, again.problems) == ([], [])
    assert first.logins == again.logins
    assert texts == {name: (etc / name).read_text() for name in texts}, "every boot, and nothing twice"
    line = f"ada:x:{uid_of('ada')}:{uid_of('ada')}:Nightshift login:{ground.homes}/ada:/bin/bash"
    assert line in texts["passwd"].splitlines()
    locked = next(each for each in texts["shadow"].splitlines() if each.startswith("ada:"))
    assert locked.split(":")[1].startswith("!")

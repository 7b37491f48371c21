"""Homes: on a volume or not, made once, taken over without touching what lies in them, never by a link."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bootstrap.people import homes
from bootstrap.people.accounts import LoginError
from bootstrap.people.homes import homes_folder, mounted, owner_of, settle

ME = os.getuid()
OTHER = 34_567
needs_root = pytest.mark.skipif(ME != 0, reason="only root gives files away")
DATA = Path("/data")


@pytest.mark.parametrize(
    ("volumes", "folder"),
    [(("corpora", "home"), "/data/home"), (("runs", "data"), "/data/data"), ((), "/home")],
)
def test_homes_lie_on_the_volume_home_else_on_the_first_else_on_the_root_disk(
    volumes: tuple[str, ...], folder: str
) -> None:
    assert homes_folder(volumes, DATA) == Path(folder)


def test_homes_without_a_volume_lie_below_the_root_of_the_accounts() -> None:
    assert homes_folder((), DATA, Path("/other")) == Path("/other/home")


def test_only_a_mount_right_there_counts(tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    line = "36 35 259:1 / /data/home rw - xfs /dev/nvme1n1 rw\n"
    (tmp_path / "self" / "mountinfo").write_text(line)
    assert mounted(Path("/data/home"), tmp_path)
    assert not mounted(Path("/data"), tmp_path)
    assert not mounted(Path("/data/home/ada"), tmp_path)


@pytest.fixture(name="skeleton")
def _skeleton(tmp_path: Path) -> Path:
    folder = tmp_path / "skel"
    (folder / ".config").mkdir(parents=True)
    (folder / ".bashrc").write_text("alias ll='ls -l'\n")
    (folder / ".config" / "x").symlink_to("/nowhere")
    return folder


def test_a_new_home_is_private_and_has_what_the_image_gives(tmp_path: Path, skeleton: Path) -> None:
    home = tmp_path / "data" / "ada"
    assert owner_of(home) is None
    assert settle(home, ME, skeleton) is False
    assert (home.stat().st_mode & 0o777, owner_of(home)) == (0o700, ME)
    assert (home / ".bashrc").read_text().startswith("alias")
    assert (home / ".config" / "x").is_symlink()


def test_a_home_that_stands_keeps_its_files_and_the_mode_that_its_owner_gave_it(
    tmp_path: Path, skeleton: Path
) -> None:
    home = tmp_path / "ada"
    settle(home, ME, skeleton)
    (home / ".bashrc").unlink()
    home.chmod(0o750)
    assert settle(home, ME, skeleton) is False
    assert home.stat().st_mode & 0o777 == 0o750
    assert not (home / ".bashrc").exists()


@needs_root
def test_all_of_a_new_home_is_the_users(tmp_path: Path, skeleton: Path) -> None:
    home = tmp_path / "ada"
    settle(home, OTHER, skeleton)
    found = [home, home / ".bashrc", home / ".config", home / ".config" / "x"]
    assert {(each.lstat().st_uid, each.lstat().st_gid) for each in found} == {(OTHER, OTHER)}


@needs_root
def test_a_home_of_root_is_taken_over_and_what_lies_in_it_is_not(tmp_path: Path, skeleton: Path) -> None:
    home = tmp_path / "ada"
    home.mkdir(0o755)
    (home / "data").write_text("1")
    assert settle(home, OTHER, skeleton) is True
    assert (home.stat().st_uid, home.stat().st_mode & 0o777) == (OTHER, 0o700)
    assert ((home / "data").stat().st_uid, (home / ".bashrc").exists()) == (0, False)


def test_a_link_in_a_homes_place_is_refused_and_never_followed(tmp_path: Path, skeleton: Path) -> None:
    (tmp_path / "secret").mkdir(0o711)
    home = tmp_path / "ada"
    home.symlink_to(tmp_path / "secret")
    with pytest.raises(LoginError, match="something else"):
        owner_of(home)
    with pytest.raises(OSError, match="ada"):
        settle(home, ME, skeleton)
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o711
    assert list((tmp_path / "secret").iterdir()) == []


def test_an_image_without_a_skeleton_gives_an_empty_home(tmp_path: Path) -> None:
    settle(tmp_path / "ada", ME, tmp_path / "none")
    assert list((tmp_path / "ada").iterdir()) == []
    assert Path("/etc/skel") == homes.SKELETON

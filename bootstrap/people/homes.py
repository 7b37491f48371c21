"""Homes: where each lies, whose it is, and making it. Never through a link that somebody has laid."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

from bootstrap.people.accounts import LoginError
from bootstrap.storage.mounts import read_mounts
from nightshift.plan.people import home_volume

MODE = 0o700
SKELETON = Path("/etc/skel")


def homes_folder(volumes: Sequence[str], data: Path, root: Path = Path("/")) -> Path:
    """What the homes lie in: a volume's mount, or /home, which is gone with the node."""
    volume = home_volume(volumes)
    return root / "home" if volume is None else data / volume


def mounted(folder: Path, proc: Path) -> bool:
    """Whether something is mounted right there: a home beside the volume would be lost with the node."""
    return any(each.point == str(folder) for each in read_mounts(proc))


def owner_of(home: Path) -> int | None:
    """The number of who owns the home; None where there is none. Raises LoginError, OSError."""
    try:
        told = home.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISDIR(told.st_mode):
        raise LoginError(
            home.name,
            f"a folder at {home}",
            "something else",
            "move it away on the volume, or take another name",
        )
    return told.st_uid


def settle(home: Path, uid: int, skeleton: Path = SKELETON) -> bool:
    """Make the home, or take over one that somebody else owns: the folder, not what lies in it.

    Whether it was taken over. A mode that its owner gave it stays. Raises OSError.
    """
    made = _make(home)
    handle = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        others = os.fstat(handle).st_uid != uid
        if made:
            _fill(home, uid, skeleton)
        if others:
            os.fchmod(handle, MODE)
            os.fchown(handle, uid, uid)
    finally:
        os.close(handle)
    return others and not made


def _make(home: Path) -> bool:
    home.parent.mkdir(parents=True, exist_ok=True)
    try:
        home.mkdir(MODE)
    except FileExistsError:
        return False
    return True


def _fill(home: Path, uid: int, skeleton: Path) -> None:
    """What the image gives each new login: while the home is still root's, and nobody else can be in it."""
    if not skeleton.is_dir():
        return
    shutil.copytree(skeleton, home, symlinks=True, dirs_exist_ok=True)
    for folder, folders, files in os.walk(home):
        for name in (*folders, *files):
            os.chown(Path(folder) / name, uid, uid, follow_symlinks=False)
    home.chmod(MODE)

"""Where runtimes lie: on the instance store where the image has mounted one, else on the root disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

FOLDER = Path("opt/nightshift/runtimes")
"""On every node; leads to the instance store where there is one."""
INSTANCE_STORE = Path("opt/dlami/nvme")
"""Where Amazon's deep learning images mount it."""


def runtimes_folder(root: Path = Path("/"), is_mount: Callable[[Path], bool] = os.path.ismount) -> Path:
    """The real folder, made. An instance store writes several times as fast as a root disk of gp3.

    Runtimes that already lie on the root disk stay there. Raises OSError.
    """
    usual, store = root / FOLDER, root / INSTANCE_STORE
    if is_mount(store) and os.access(store, os.W_OK) and not _in_use(usual):
        there = store / "nightshift" / "runtimes"
        there.mkdir(parents=True, exist_ok=True)
        _lead(usual, there)
        return there.resolve()
    if usual.is_symlink() and not usual.exists():
        usual.unlink()
    usual.mkdir(parents=True, exist_ok=True)
    return usual.resolve()


def _in_use(usual: Path) -> bool:
    return usual.is_dir() and not usual.is_symlink() and any(usual.iterdir())


def _lead(usual: Path, there: Path) -> None:
    """A link from the usual place, for people; all else uses the real one: /proc/self/maps names it."""
    if usual.is_symlink() and usual.readlink() == there:
        return
    if usual.is_symlink():
        usual.unlink()
    elif usual.is_dir():
        usual.rmdir()
    usual.parent.mkdir(parents=True, exist_ok=True)
    usual.symlink_to(there)

"""A notebook's own files on the node: below a folder of root's, in memory, gone with the boot."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from bootstrap.people.accounts import Login


@dataclass(frozen=True)
class Files:
    """`config` can be read by its user and by root. `runtime` is the user's own folder; its path is short,
    since sockets in it may have 107 characters (unix(7)) and their own names take 50."""

    config: Path
    runtime: Path


def lay(folder: Path, login: Login, config: str) -> Files:
    """Make them anew; nothing that the user has put there is followed or kept. Raises OSError."""
    own = folder / login.name
    if own.exists():
        shutil.rmtree(own)
    own.mkdir(parents=True, mode=0o755)
    files = Files(own / "config.json", own / "run")
    handle = os.open(files.config, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(config)
        os.fchown(handle, login.uid, login.uid)
    files.runtime.mkdir(0o700)
    os.chown(files.runtime, login.uid, login.uid)
    return files

"""A workspace's own temporary folder, and how what killed ones have left is taken away."""

import contextlib
import fcntl
import shutil
import tempfile
import time
from pathlib import Path

PREFIX = "nightshift-engine-"
_LOCK = "held"
_YOUNG_S = 60
"""A folder this young may be one whose process hasn't locked it yet."""


class OwnFolder:
    """Locked while this process lives; the kernel frees the lock of a killed one. First, old ones go."""

    def __init__(self) -> None:
        sweep(Path(tempfile.gettempdir()))
        self._temporary = tempfile.TemporaryDirectory(prefix=PREFIX)
        self.path = Path(self._temporary.name)
        self._lock = (self.path / _LOCK).open("w", encoding="utf-8")
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def close(self) -> None:
        """Remove it. It can be called again."""
        self._lock.close()
        self._temporary.cleanup()


def sweep(where: Path) -> list[Path]:
    """Remove the folders there that nobody holds any more; returns them."""
    gone = [folder for folder in where.glob(f"{PREFIX}*") if _left(folder)]
    for folder in gone:
        shutil.rmtree(folder, ignore_errors=True)
    return gone


def _left(folder: Path) -> bool:
    """Another user's folder, or one that goes at this moment, is none of ours."""
    with contextlib.suppress(OSError):
        if time.time() - folder.lstat().st_mtime < _YOUNG_S:
            return False
        with (folder / _LOCK).open("r+", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False

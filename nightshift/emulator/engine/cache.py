"""A folder of built programs that is either whole or not there: lock, manifest, atomic rename."""

import fcntl
import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

MANIFEST = "manifest.json"
_CHUNK = 1 << 20


def sha256_of(path: Path) -> str:
    """The file's SHA-256 in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_manifest(folder: Path) -> None:
    """Note size, time of change and SHA-256 of every file of `folder`."""
    entries = {
        path.name: {
            "size": path.stat().st_size,
            "mtime_ns": path.stat().st_mtime_ns,
            "sha256": sha256_of(path),
        }
        for path in sorted(folder.iterdir())
        if path.name != MANIFEST
    }
    (folder / MANIFEST).write_text(json.dumps(entries, indent=1), encoding="utf-8")


def damage(folder: Path) -> str | None:
    """What is wrong with a built folder, or None. A file is hashed only when its time of change moved."""
    try:
        entries = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        noted = [
            (folder / name, entry["size"], entry["mtime_ns"], entry["sha256"])
            for name, entry in entries.items()
        ]
    except FileNotFoundError:
        return "no manifest"
    except (ValueError, TypeError, KeyError, AttributeError):
        return "the manifest cannot be read"
    return next((found for entry in noted if (found := _file_damage(*entry))), None)


def _file_damage(path: Path, size: int, mtime_ns: int, sha256: str) -> str | None:
    if not path.is_file():
        return f"{path.name} is missing"
    state = path.stat()
    if state.st_size != size:
        return f"{path.name} has {state.st_size} bytes instead of {size}"
    if state.st_mtime_ns != mtime_ns and sha256_of(path) != sha256:
        return f"{path.name} has changed"
    if not state.st_mode & 0o100:
        return f"{path.name} may not be executed"
    return None


@contextmanager
def locked(lock: Path, waiting: Callable[[], None]) -> Generator[None]:
    """Hold the lock; `waiting` is called once when another process has it. A dead holder's lock is free."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def replaced(folder: Path) -> Generator[Path]:
    """A fresh folder to fill; on success it becomes `folder` by rename, on any error it is removed.

    The caller holds the lock of `folder`: what a killed builder left half filled goes too.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    for left in folder.parent.glob(f".{folder.name}-*"):
        shutil.rmtree(left, ignore_errors=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield fresh
        write_manifest(fresh)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)

"""The list of a checkpoint's files with size and hash: what makes "whole" a question with an answer."""

from __future__ import annotations

import errno
import json
import re
import stat
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from nightshift.training.files import sha256_of

NAME = "manifest.json"
INDEX, EXTRA = ".metadata", "extra.pt"
"""What every checkpoint has beside its tensors: torch's index of them, and plain values."""
VERSION = 1
_FILE = re.compile(r"[A-Za-z0-9._-]+")
_TENSORS = "__*.distcp"
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP)
"""What is said of a file that isn't there; any other refusal says nothing of what stands in it."""
HASHING_THREADS = 4


@dataclass(frozen=True)
class Entry:
    """One file: bytes, and sha256 in hex."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """`world`: ranks that wrote it. `position`: samples trained on. `about`: the run's own words."""

    step: int
    position: int
    world: int
    at: float
    files: Mapping[str, Entry]
    about: Mapping[str, object]

    def to_json(self) -> str:
        return json.dumps({"version": VERSION, **asdict(self)}, indent=1, sort_keys=True) + "\n"


def parse(text: str) -> Manifest:
    """Raises ValueError when the text is not a manifest of this version."""
    try:
        raw = json.loads(text)
    except RecursionError:
        raise ValueError("not a manifest: nested too deeply") from None
    if not isinstance(raw, dict) or raw.get("version") != VERSION:
        raise ValueError(f"not a manifest of version {VERSION}")
    try:
        files = {str(name): Entry(int(one["size"]), str(one["sha256"])) for name, one in raw["files"].items()}
        step, position, world = (int(raw[key]) for key in ("step", "position", "world"))
        found = Manifest(step, position, world, float(raw["at"]), files, dict(raw["about"]))
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"not a manifest: {error!r}") from error
    if odd := [name for name in files if not _FILE.fullmatch(name)]:
        raise ValueError(f"not a manifest: {odd[0]!r} is no file's name")
    return found


def entry_of(path: Path) -> Entry:
    """Size and hash of a file as it is now."""
    return Entry(path.stat().st_size, sha256_of(path))


def read(folder: Path) -> Manifest:
    """Raises ValueError when there is none, OSError when that can't be known."""
    path = folder / NAME
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ValueError(f"{NAME} is no file")
        return parse(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno not in _GONE:
            raise
        raise ValueError(f"no readable {NAME}: {error}") from error


def faults(folder: Path, *, hashes: bool, step: int | None = None) -> tuple[str, ...]:
    """What is not as the manifest says, or not of this step. Sizes only is quick; `hashes` reads every byte.

    Raises OSError when it can't be known: no right to read, a disk that fails, too many open files.
    """
    try:
        manifest = read(folder)
    except ValueError as error:
        return (str(error),)
    wrong = _list_faults(folder, manifest, step)
    sizes = (_size_fault(folder / name, entry) for name, entry in manifest.files.items())
    wrong += [says for says in sizes if says]
    return tuple(wrong) if wrong or not hashes else _hash_faults(folder, manifest)


def _list_faults(folder: Path, manifest: Manifest, step: int | None) -> list[str]:
    """What the list itself lacks: a file that it doesn't name could be any other run's."""
    present = {INDEX, EXTRA, *(path.name for path in folder.glob(_TENSORS))}
    wrong = [f"{name}: {NAME} doesn't name it" for name in sorted(present - manifest.files.keys())]
    if step is not None and manifest.step != step:
        wrong.append(f"{NAME}: it is of step {manifest.step}")
    return wrong


def _size_fault(path: Path, entry: Entry) -> str | None:
    try:
        size = path.stat().st_size
    except OSError as error:
        return _gone(path, error)
    return None if size == entry.size else f"{path.name}: {size} bytes, {entry.size} were written"


def _gone(path: Path, error: OSError) -> str:
    """Raises the error again unless it says that there is no such file."""
    if error.errno not in _GONE:
        raise error
    return f"{path.name}: {error.strerror}"


def _hash_faults(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    names = tuple(manifest.files)
    with ThreadPoolExecutor(HASHING_THREADS) as pool:
        found = pool.map(lambda name: _hash_fault(folder / name, manifest.files[name]), names)
        return tuple(says for says in found if says)


def _hash_fault(path: Path, entry: Entry) -> str | None:
    try:
        same = sha256_of(path) == entry.sha256
    except OSError as error:
        return _gone(path, error)
    return None if same else f"{path.name}: its content is not what was written"

"""The list of a checkpoint's files with size and hash: what makes "whole" a question with an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from nightshift.training.files import sha256_of

NAME = "manifest.json"
VERSION = 1
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
    raw = json.loads(text)
    if not isinstance(raw, dict) or raw.get("version") != VERSION:
        raise ValueError(f"not a manifest of version {VERSION}")
    try:
        files = {str(name): Entry(int(one["size"]), str(one["sha256"])) for name, one in raw["files"].items()}
        step, position, world = (int(raw[key]) for key in ("step", "position", "world"))
        return Manifest(step, position, world, float(raw["at"]), files, dict(raw["about"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a manifest: {error!r}") from error


def entry_of(path: Path) -> Entry:
    """Size and hash of a file as it is now."""
    return Entry(path.stat().st_size, sha256_of(path))


def read(folder: Path) -> Manifest:
    """Raises ValueError when there is none that can be read."""
    try:
        return parse((folder / NAME).read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"no readable {NAME}: {error}") from error


def faults(folder: Path, *, hashes: bool) -> tuple[str, ...]:
    """What is not as the manifest says. Sizes only is quick; `hashes` reads every byte."""
    try:
        manifest = read(folder)
    except ValueError as error:
        return (str(error),)
    wrong = tuple(
        says for name, entry in manifest.files.items() if (says := _size_fault(folder / name, entry))
    )
    return wrong if wrong or not hashes else _hash_faults(folder, manifest)


def _size_fault(path: Path, entry: Entry) -> str | None:
    try:
        size = path.stat().st_size
    except OSError as error:
        return f"{path.name}: {error.strerror}"
    return None if size == entry.size else f"{path.name}: {size} bytes, {entry.size} were written"


def _hash_faults(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    names = tuple(manifest.files)
    with ThreadPoolExecutor(HASHING_THREADS) as pool:
        found = pool.map(lambda name: _hash_fault(folder / name, manifest.files[name]), names)
        return tuple(says for says in found if says)


def _hash_fault(path: Path, entry: Entry) -> str | None:
    try:
        same = sha256_of(path) == entry.sha256
    except OSError as error:
        return f"{path.name}: {error.strerror}"
    return None if same else f"{path.name}: its content is not what was written"

"""The seal of a runtime: every file that belongs to it, with size and sha256. Pure; and what differs from it.

The seal lies inside, as `runtime.json`. All files carry one fixed time of change, so that a pack of the same
content is the same bytes, compiled Python fits its source, and an edit shows without reading anything.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

NAME = "runtime.json"
VERSION = 1
MTIME = 1_577_836_800
"""2020-01-01 in UTC; any fixed time would do."""
Kind = Literal["file", "link", "other"]


class SealError(ValueError):
    """Not a seal that this release can read."""


@dataclass(frozen=True)
class File:
    """One file. `path` is relative to the runtime, with slashes; `size` in bytes."""

    path: str
    size: int
    sha256: str
    executable: bool


@dataclass(frozen=True)
class Seal:
    """What a runtime consists of. `links` are path and target; both sequences are ordered by path."""

    id: str
    python: str
    files: tuple[File, ...]
    links: tuple[tuple[str, str], ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(each.size for each in self.files)

    @property
    def room(self) -> int:
        """Bytes on a disk with blocks of 4 KiB, folders and the seal itself included, generously."""
        blocks = sum(-(-each.size // 4096) for each in self.files)
        return (blocks + len(self.files) // 4 + len(self.links)) * 4096 + (64 << 20)

    def to_json(self) -> str:
        """One text for one content, with its own sha256."""
        body = {
            "version": VERSION,
            "id": self.id,
            "python": self.python,
            "files": [[each.path, each.size, each.sha256, int(each.executable)] for each in self.files],
            "links": [list(each) for each in self.links],
        }
        return _compact({"seal": body, "sha256": digest_of(_compact(body))})


@dataclass(frozen=True)
class Observed:
    """What stands at a path. `target` of a link only, size and time of a file only."""

    kind: Kind
    size: int = 0
    mtime: int = 0
    executable: bool = False
    target: str = ""


@dataclass(frozen=True)
class Damage:
    """One path that isn't as sealed."""

    path: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, found {self.found}"


def read_seal(text: str) -> Seal:
    """Raises SealError on anything that isn't one, paths that lead out of the runtime among it."""
    try:
        whole = json.loads(text)
        raw = whole["seal"]
        if raw["version"] != VERSION:
            raise SealError(f"a seal of version {raw['version']!r}, this release reads {VERSION}")
        if digest_of(_compact(raw)) != whole["sha256"]:
            raise SealError("a seal that was changed")
        files = tuple(_file(*each) for each in raw["files"])
        links = tuple((_inside(path), _target(path, target)) for path, target in raw["links"])
        seal = Seal(str(raw["id"]), str(raw["python"]), files, links)
    except SealError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SealError(f"not a seal: {type(error).__name__}: {error}") from None
    paths = [each.path for each in seal.files] + [path for path, _ in seal.links]
    if len(set(paths)) != len(paths) or NAME in paths or not paths:
        raise SealError("not a seal: a path twice, its own path, or none")
    return seal


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True) + "\n"


def digest_of(text: str) -> str:
    """sha256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _file(path: str, size: int, sha256: str, executable: int) -> File:
    if not (isinstance(size, int) and size >= 0 and isinstance(sha256, str) and len(sha256) == 64):
        raise SealError(f"not a seal: {path!r} has size {size!r} and sha256 {sha256!r}")
    return File(_inside(path), size, sha256, bool(executable))


def _inside(path: str) -> str:
    parts = path.split("/")
    if not path or any(part in {"", ".", ".."} for part in parts) or "\0" in path:
        raise SealError(f"not a seal: {path!r} leads out of the runtime")
    return path


def _target(path: str, target: str) -> str:
    """A link's target is relative and stays inside."""
    depth = path.count("/")
    for part in target.split("/"):
        depth += -1 if part == ".." else part not in {"", "."}
        if depth < 0:
            break
    if depth < 0 or not target or target.startswith("/"):
        raise SealError(f"not a seal: the link {path!r} leads out of the runtime, to {target!r}")
    return target


def differences(seal: Seal, observed: Mapping[str, Observed]) -> tuple[Damage, ...]:
    """Everything that sizes, times, kinds and names show, in the order of paths. Reads no content."""
    wanted = {each.path: _as_sealed(each) for each in seal.files}
    wanted |= {path: Observed("link", target=target) for path, target in seal.links}
    missing = (Damage(path, _told(wanted[path]), "nothing") for path in wanted.keys() - observed.keys())
    changed = (
        Damage(path, _told(wanted[path]), _told(found))
        for path, found in observed.items()
        if path in wanted and found != wanted[path]
    )
    strange = (
        Damage(path, "nothing", _told(found))
        for path, found in observed.items()
        if path not in wanted and path != NAME and not _by_python(path)
    )
    return tuple(sorted((*missing, *changed, *strange), key=lambda each: each.path))


def _as_sealed(file: File) -> Observed:
    return Observed("file", file.size, MTIME, file.executable)


def _by_python(path: str) -> bool:
    """Python writes these itself when it's run with -O."""
    return "/__pycache__/" in path and path.endswith((".opt-1.pyc", ".opt-2.pyc"))


def _told(found: Observed) -> str:
    if found.kind == "file":
        changed = "" if found.mtime == MTIME else f", changed at {found.mtime}"
        return f"a{'n executable' if found.executable else ''} file of {found.size} bytes{changed}"
    return f"a link to {found.target}" if found.kind == "link" else "something else"


def is_mapped(path: str) -> bool:
    """Whether the loader maps it: a shared library, by its name."""
    name = path.rpartition("/")[2]
    return name.endswith(".so") or ".so." in name


def to_read(seal: Seal, full: bool) -> Iterable[File]:
    """The files whose content a verification reads: the libraries and the interpreter, or all."""
    return (each for each in seal.files if full or is_mapped(each.path) or each.path.startswith("bin/"))

"""Looks at a runtime's folder: what stands there, and the sha256 of files, several at a time."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bootstrap.runtime.seal import Damage, File, Observed, Seal, differences, to_read

_CHUNK = 1 << 20
THREADS = min(16, (os.cpu_count() or 1) + 1)
Beat = Callable[[], None]


def walk(tree: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """(path relative to the tree, entry) of everything that isn't a folder. Raises OSError."""
    pending = [("", str(tree))]
    while pending:
        prefix, folder = pending.pop()
        with os.scandir(folder) as found:
            entries = list(found)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                pending.append((f"{prefix}{entry.name}/", entry.path))
            else:
                yield prefix + entry.name, entry


def observe(tree: Path) -> dict[str, Observed]:
    """What stands at each path. Raises OSError."""
    return {path: _observed(entry) for path, entry in walk(tree)}


def _observed(entry: os.DirEntry[str]) -> Observed:
    if entry.is_symlink():
        return Observed("link", target=str(Path(entry.path).readlink()))
    seen = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(seen.st_mode):
        return Observed("other")
    return Observed("file", seen.st_size, int(seen.st_mtime), bool(seen.st_mode & 0o100))


def sha256_of(path: Path) -> str:
    """Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def hashes(tree: Path, paths: Iterable[str], beat: Beat) -> Iterator[tuple[str, str]]:
    """(path, sha256) in the order given. Raises OSError."""
    wanted = list(paths)
    with ThreadPoolExecutor(THREADS, "hash") as pool:
        for path, digest in zip(wanted, pool.map(lambda each: sha256_of(tree / each), wanted), strict=True):
            beat()
            yield path, digest


def verify(tree: Path, seal: Seal, full: bool, beat: Beat = lambda: None) -> tuple[Damage, ...]:
    """What isn't as sealed: names, sizes, times, and the content of libraries, or with `full` of everything.

    Content is read only where the rest is right. An unreadable file is damage; raises nothing.
    """
    try:
        found = differences(seal, observe(tree))
        return found or tuple(_read(tree, to_read(seal, full), beat))
    except OSError as error:
        return (Damage(str(error.filename or tree), "to be readable", error.strerror or str(error)),)


def _read(tree: Path, files: Iterable[File], beat: Beat) -> Iterator[Damage]:
    wanted = {each.path: each.sha256 for each in files}
    for path, found in hashes(tree, wanted, beat):
        if found != wanted[path]:
            yield Damage(path, f"sha256 {wanted[path][:12]}", found[:12])

"""Durable files: what a call here has returned for is on the disk, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Make names in `folder` durable: without it xfs loses the last rename at a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: Path) -> None:
    """Make a file's content durable.

    After `sync_folder` it also tells a dead disk from a living one: xfs that has shut itself down answers
    success to the sync of a folder and an error to that of a file.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_synced(path: Path, data: bytes) -> None:
    """Write a new file and make its content durable (its name needs `sync_folder`)."""
    with path.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def replace(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Put `data` under `path` at once. On an OSError the old content stands and nothing is left over."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    with _removed_on_error(draft):
        if durable:
            write_synced(draft, data)
        else:
            draft.write_bytes(data)
        draft.replace(path)
    if durable:
        sync_folder(path.parent)
        sync_file(path)


@contextmanager
def _removed_on_error(path: Path) -> Generator[None]:
    try:
        yield
    except BaseException:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        raise


def sha256_of(path: Path) -> str:
    """The content's hash in hex; reads through the page cache, frees the interpreter while it hashes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def remove_tree(folder: Path) -> None:
    """Remove a folder with what is in it; a missing one is fine."""
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)

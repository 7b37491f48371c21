"""A store in a folder, with the bucket's promises: put if absent, replace what is known, whole or nothing."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path

from bootstrap.runtime.store import Stored, StoreError


class FolderStore:
    """`fault` is called before each read with the count of reads so far; it may raise StoreError."""

    def __init__(
        self, folder: Path, fault: Callable[[int], None] = lambda reads: None, slow_s: float = 0.0
    ) -> None:
        self.folder, self._fault, self._slow_s = folder, fault, slow_s
        self.reads = 0
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, key: str) -> Path:
        """Where a key's content lies."""
        return self.folder / key.replace("/", "_")

    def find(self, key: str) -> Stored | None:
        """As in RuntimeStore."""
        self._fault(self.reads)
        path = self.path(key)
        if not path.exists():
            return None
        return Stored(path.stat().st_size, _version(path))

    def read(self, key: str, stored: Stored, start: int, count: int) -> bytes:
        """As in RuntimeStore."""
        self._fault(self.reads)
        self.reads += 1
        with self.path(key).open("rb") as file:
            file.seek(start)
            return file.read(count)

    def put(self, key: str, parts: Iterable[bytes], replacing: Stored | None) -> bool:
        """As in RuntimeStore."""
        self._fault(self.reads)
        partial = self.folder / f"partial-{uuid.uuid4().hex}"
        try:
            with partial.open("wb") as file:
                for part in parts:
                    file.write(part)
                    time.sleep(self._slow_s)
            return self._place(partial, self.path(key), replacing)
        finally:
            partial.unlink(missing_ok=True)

    def _place(self, partial: Path, path: Path, replacing: Stored | None) -> bool:
        if replacing:
            if not path.exists() or _version(path) != replacing.version:
                return False
            partial.replace(path)
            return True
        try:
            os.link(partial, path)
        except FileExistsError:
            return False
        return True


def _version(path: Path) -> str:
    seen = path.stat()
    return f"{seen.st_ino}-{seen.st_mtime_ns}-{seen.st_size}"


def refuses(reads: int) -> None:
    """A fault: nothing is reached."""
    raise StoreError("the network is unreachable")

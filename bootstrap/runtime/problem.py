"""The one error of this room, in a finding's words, and what a full disk is."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT)
GIB = 1 << 30
_FULL_WORDS = ("No space left on device", "Disk quota exceeded", "os error 28", "os error 122")


class RuntimeProblem(Exception):
    """No runtime can be had. The three texts are a finding's."""

    def __init__(self, expected: str, found: str, remedy: str) -> None:
        super().__init__(f"runtime: expected {expected}, found {found}; {remedy}")
        self.expected, self.found, self.remedy = expected, found, remedy


def size(count: float) -> str:
    """Bytes for people: 5.31 GiB, 12 MiB."""
    return f"{count / GIB:.2f} GiB" if count >= GIB else f"{count / (1 << 20):.0f} MiB"


def is_full(error: OSError) -> bool:
    """Whether a write failed for want of room."""
    return error.errno in FULL


def says_full(words: str) -> bool:
    """Whether a command failed for want of room, by what it said."""
    return any(each in words for each in _FULL_WORDS)


def free(folder: Path) -> int:
    """Free bytes of the filesystem that holds `folder`, or will. Raises OSError."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    return shutil.disk_usage(there).free


def no_room(folder: Path, needed: int, found: int, full: bool = False) -> RuntimeProblem:
    """Too little room, seen before (`needed` and `found` in bytes) or hit while writing (`full`)."""
    told = f"the disk full, {size(found)} free after clearing up" if full else f"{size(found)}"
    return RuntimeProblem(
        f"{size(needed)} free for a runtime in {folder}",
        told,
        "use an instance store, enlarge the root disk (root_gib), or remove other runtimes from that folder",
    )


def check_room(folder: Path, needed: int) -> None:
    """Raises RuntimeProblem when less than `needed` bytes are free."""
    found = free(folder)
    if found < needed:
        raise no_room(folder, needed, found)

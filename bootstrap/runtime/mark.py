"""The mark beside a runtime's folder: without it the folder is half done and worth nothing."""

from __future__ import annotations

import ctypes
import json
import os
import threading
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
How = Literal["unpacked", "built"]
Trust = Literal["none", "quick", "full"]


@dataclass(frozen=True)
class Mark:
    """`seal` is the sha256 of the seal's text, `boot` the boot that wrote the files.

    `flushed`: they're on the disk and not only in memory, so that they outlive a crash of the machine.
    """

    seal: str
    how: How
    boot: str
    flushed: bool


def trust(mark: Mark | None, boot: str) -> Trust:
    """How a folder is looked at: not at all, by sizes and libraries, or every byte.

    A machine that crashed before its files were on the disk may have files of the right size and no content.
    """
    if mark is None:
        return "none"
    return "quick" if mark.flushed or mark.boot == boot else "full"


def boot_id() -> str:
    """Names this boot of the machine; empty where the kernel doesn't say."""
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def read_mark(path: Path) -> Mark | None:
    """None for one that is missing, cut short or not a mark."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        mark = Mark(raw["seal"], raw["how"], raw["boot"], raw["flushed"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    texts = isinstance(mark.seal, str) and isinstance(mark.boot, str)
    return mark if texts and mark.how in {"unpacked", "built"} and isinstance(mark.flushed, bool) else None


def write_mark(path: Path, mark: Mark) -> None:
    """Whole or not at all. Raises OSError."""
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        file.write(json.dumps(asdict(mark), sort_keys=True) + "\n")
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def flush(path: Path, mark: Mark) -> None:
    """Wait until everything on the mark's filesystem is on the disk, then say so in the mark.

    Raises OSError. Minutes on a root disk of 125 MiB/s.
    """
    held = os.open(path.parent, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(held):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), str(path.parent))
    finally:
        os.close(held)
    if read_mark(path) == mark:
        write_mark(path, replace(mark, flushed=True))


def flush_later(path: Path, mark: Mark) -> threading.Thread:
    """`flush` beside everything else. One that fails leaves the mark as it is: the next boot reads it all."""

    def work() -> None:
        try:
            flush(path, mark)
        except OSError as error:
            print(f"nightshift: runtime: not flushed: {error}", flush=True)

    thread = threading.Thread(target=work, name="flush runtime", daemon=True)
    thread.start()
    return thread

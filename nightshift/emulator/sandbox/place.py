"""Where a sandbox keeps its files, whose they are, and how what a killed run left is taken away."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

PREFIX = "nightshift-sandbox-"
MEMORY = Path("/dev/shm")
"""Not on the root's own filesystem: an overlay can't keep its changes inside of what it lies over."""


def born(pid: int) -> str | None:
    """When a process began, in ticks since boot: tells it from a later one of its id. None: there's none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


def make_folder(where: Path = MEMORY) -> Path:
    """A new folder of this process; first what runs that are no more have left there goes."""
    sweep(where)
    pid = os.getpid()
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{pid}-{born(pid)}-", dir=where))


def sweep(where: Path = MEMORY) -> list[Path]:
    """Take away the folders, loop devices and control groups of sandboxes whose process has ended."""
    gone = [each for each in where.glob(f"{PREFIX}*") if not _owned(each.name)]
    for folder in gone:
        discard(folder)
    for group in _groups():
        if not _owned(group.name):
            remove_group(group)
    return gone


def _owned(name: str) -> bool:
    parts = name.removeprefix(PREFIX).split("-")
    return len(parts) > 1 and parts[0].isdigit() and born(int(parts[0])) == parts[1]


def discard(folder: Path) -> None:
    """A sandbox's folder, with the loop devices whose data lie in it."""
    listing = ["losetup", "--list", "--noheadings", "--raw", "--output", "NAME,BACK-FILE"]
    told = subprocess.run(listing, check=False, capture_output=True, text=True).stdout
    for line in told.splitlines():
        name, _, file = line.partition(" ")
        if file.startswith(f"{folder}/"):
            subprocess.run(["losetup", "--detach", name], check=False, capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)


def group_root() -> Path | None:
    """Where control groups of version 2 are kept and may be made. None: nowhere."""
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, point, kind, options, *_ = line.split()
        if kind == "cgroup2" and "rw" in options.split(",") and os.access(point, os.W_OK):
            return Path(point)
    return None


def _groups() -> list[Path]:
    root = group_root()
    return sorted(root.glob(f"{PREFIX}*")) if root else []


def make_group(name: str) -> Path | None:
    """A control group `name` of the sandbox whose folder has this name."""
    root = group_root()
    if root is None:
        return None
    group = root / name
    group.mkdir(parents=True, exist_ok=True)
    return group


def remove_group(group: Path) -> None:
    """A control group with all below it; one that still has processes stays."""
    for each in sorted((path for path in group.rglob("*") if path.is_dir()), reverse=True):
        with contextlib.suppress(OSError):
            each.rmdir()
    with contextlib.suppress(OSError):
        group.rmdir()

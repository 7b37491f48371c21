"""Whether this machine can run nodes for real, and how many cards each of them may have."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

from bootstrap.manifest import BootManifest
from nightshift.catalog.instance_types import instance_type
from nightshift.emulator.sandbox.network import reason_to_skip
from nightshift.emulator.sandbox.place import MEMORY

NODE_GIB, WORKER_GIB = 0.6, 0.5
"""Measured on a small model: agent, torchrun and the libraries it has; each worker beside."""
FILES_GIB = 1.0
"""What the volumes' data and the nodes' own files may take of memory."""
_NEEDED = ("torch",)
_MKFS = {"xfs": "mkfs.xfs", "ext4": "mkfs.ext4"}


def reason_to_model(manifest: BootManifest) -> str | None:
    """Why a group's nodes can't be real here, or None."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        return f"needs {' and '.join(missing)}, which this environment hasn't"
    tools = [_MKFS[each.filesystem] for each in manifest.volumes if not shutil.which(_MKFS[each.filesystem])]
    if tools:
        return f"needs {', '.join(sorted(set(tools)))}"
    return reason_to_skip() or _short_of_memory(manifest)


def _short_of_memory(manifest: BootManifest) -> str | None:
    workers = max(int(instance_type(name).gpu_count) for name in manifest.instance_types)
    wanted = FILES_GIB + manifest.nodes * (NODE_GIB + workers * WORKER_GIB)
    here = min(_available_gib(), _left_gib(), _files_room_gib() + wanted - FILES_GIB)
    if here >= wanted:
        return None
    which = f"{manifest.nodes} x {workers} workers"
    return f"needs about {wanted:.1f} GiB of memory for {which}, {here:.1f} GiB are free"


def _available_gib(meminfo: Path = Path("/proc/meminfo")) -> float:
    for line in meminfo.read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) / (1 << 20)
    return 0.0


def _left_gib(group: Path = Path("/sys/fs/cgroup")) -> float:
    """Below this control group's own limit, cached files not counted; infinite without one."""
    try:
        most = (group / "memory.max").read_text(encoding="ascii").strip()
        used = int((group / "memory.current").read_text(encoding="ascii"))
        lines = (group / "memory.stat").read_text(encoding="ascii").splitlines()
        cached = dict(line.split() for line in lines)
    except (OSError, ValueError):
        return float("inf")
    if most == "max":
        return float("inf")
    return (int(most) - used + int(cached.get("inactive_file", 0))) / (1 << 30)


def _files_room_gib() -> float:
    """What the filesystem in memory has left for volumes and nodes."""
    return shutil.disk_usage(MEMORY).free / (1 << 30)

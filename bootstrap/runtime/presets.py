"""Which preset is built from which lock, with which CPython, for which machines. Pure but for reading locks.

CPython is uv's managed one (python-build-standalone), pinned by patch: uv carries a table of them with the
sha256 of each and takes no other, and uv itself is pinned by hash in `locks/uv.txt`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from bootstrap.runtime.problem import GIB, RuntimeProblem
from nightshift.catalog.runtimes import NEWEST, RUNTIMES

LOCKS = Path(__file__).parent / "locks"
UV_LOCK = LOCKS / "uv.txt"
UV = "0.13.9"
"""The uv whose table of CPythons these are (build 20261110 of python-build-standalone)."""
PYTHONS: Mapping[str, str] = MappingProxyType({"3.12": "3.12.16", "3.13": "3.13.18"})
LAYOUT = 1
"""Of the sealed folder and the pack. Another one never meets a pack of this one."""
ARCHES = ("x86_64", "arm64")
X86_ONLY = ("torch-2.6-cu124", "torch-2.8-cu128")
"""The default index has torch 2.6 and 2.8 for arm64 without CUDA only."""
_SAME = {"cpu": NEWEST}
"""Without CUDA, torch for x86_64 lies on an index of its own; the CUDA build computes on a CPU as well."""
_MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}
_ROOM = {"torch-2.6-cu124": 6.5, "torch-2.8-cu128": 8.5, "torch-2.15-cu132": 7.0}


@dataclass(frozen=True)
class Preset:
    """What is to be built. `python` with its patch; `room` is the bytes that a build takes at its peak."""

    name: str
    arch: str
    python: str
    lock: str = field(repr=False)
    room: int

    @property
    def id(self) -> str:
        """Names the folder and the pack: the same id, the same content."""
        parts = {"layout": LAYOUT, "lock": self.lock, "python": self.python, "uv": UV}
        digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        return f"{digest[:20]}-{self.arch}"

    @property
    def key(self) -> str:
        """Where its pack lies in the data bucket."""
        return f"runtimes/{self.id}.tar"

    @property
    def interpreter(self) -> str:
        """Below the sealed folder."""
        return f"bin/python{minor(self.python)}"


def minor(python: str) -> str:
    """3.12 of 3.12.16."""
    return ".".join(python.split(".")[:2])


def arch_of(machine: str) -> str | None:
    """Our name of what `uname -m` says; None for a machine that no runtime is for."""
    return _MACHINES.get(machine)


def preset(name: str, machine: str) -> Preset:
    """The preset for a machine (`x86_64`, `aarch64`, ...). Raises RuntimeProblem for one that isn't."""
    if name not in RUNTIMES:
        raise RuntimeProblem(f"a runtime of {', '.join(RUNTIMES)}", f"{name!r}", "name one of them")
    arch = arch_of(machine)
    if arch is None:
        raise RuntimeProblem("an x86_64 or arm64 machine", f"{machine!r}", "use another type of instance")
    if arch != "x86_64" and name in X86_ONLY:
        found = "a package index that has it for arm64 without CUDA only"
        raise RuntimeProblem(f"{name} for arm64", found, f"take {NEWEST}, or an x86_64 type")
    lock = _SAME.get(name, name)
    python = PYTHONS[RUNTIMES[name].python]
    text = (LOCKS / lock_file(lock, arch)).read_text(encoding="utf-8")
    return Preset(name, arch, python, text, int(_ROOM[lock] * GIB))


def locks() -> tuple[str, ...]:
    """The presets that have a lock of their own."""
    return tuple(name for name in RUNTIMES if name not in _SAME)


def arches(name: str) -> tuple[str, ...]:
    """The architectures that a preset exists for."""
    return ARCHES[:1] if name in X86_ONLY else ARCHES


def lock_file(name: str, arch: str) -> str:
    """One file where the architectures' locks are the same, else one for each."""
    own = f"{name}-{arch}.txt"
    return own if (LOCKS / own).exists() else f"{name}.txt"


def pins(lock: str) -> dict[str, str]:
    """Name to version of every package in a lock."""
    lines = [
        line.split()[0] for line in lock.splitlines() if "==" in line and not line.startswith((" ", "#"))
    ]
    return dict(each.split("==", 1) for each in lines)

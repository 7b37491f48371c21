"""Compiled kernels kept from shift to shift: packed on the volume, unpacked beside the process.

The pack is one file, replaced at once, with a hash: it's whole or it isn't used. Kernels are found again
under the same path only, and are good for one version of torch, one of CUDA and one kind of processor, so
these name the pack. torch runs what is in it: whoever may write to the volume may run code here.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import platform
import re
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
from torch._inductor import config as inductor

from nightshift.training.files import remove_tree, replace

FOLDER = "TORCHINDUCTOR_CACHE_DIR"
HEADERS = "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"
"""On a CPU torch compiles its headers ahead on each new disk, even where no kernel is missing: 6 s of 9."""
VERSION = 1
SKIPPED = re.compile(r"(^|/)(locks|precompiled_headers)(/|$)|\.(lock|tmp|gch)$")


def key() -> str:
    """The pack's name."""
    cuda = torch.version.cuda or "cpu"
    processor = torch.cuda.get_device_name() if torch.cuda.is_available() else _processor()
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return named(f"torch {torch.__version__}", f"cuda {cuda}", f"python {python}", processor)


def named(*facts: str) -> str:
    """Facts as a file name: legible, and apart for any two sets of them."""
    words = "-".join(re.sub(r"[^a-z0-9.]+", "-", fact.lower()).strip("-") for fact in facts)
    return f"{words[:120]}-{hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8]}"


def _processor() -> str:
    """Kernels for a CPU are compiled for its very model."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    told = [line for line in lines if line.startswith(("model name", "flags"))][:2]
    digest = hashlib.sha256("\n".join(told).encode()).hexdigest()[:8]
    return f"{platform.machine()} {torch.backends.cpu.get_cpu_capability()} {digest}"


@dataclass
class CompileCache:
    """Of one node: its first rank unpacks and packs, all use `place`. Nothing of it may cost the run."""

    pack: Path
    place: Path
    how: str = "cold"
    _files: int = 0
    _lock: int | None = None

    @staticmethod
    def at(volume: Path, scratch: Path | None = None) -> CompileCache:
        """`scratch` must be the same path in each shift; not on the volume, where small files are slow."""
        name = key()
        base = scratch or Path(tempfile.gettempdir()) / f"nightshift-kernels-{os.getuid()}"
        return CompileCache(volume / f"{name}.pack", base / name)

    def open(self) -> str:
        """For the node's first rank, before anything compiles. How it begins: warm, or cold and why."""
        self.place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self._alone():
            return self._said("cold: another run on this node uses the folder")
        remove_tree(self.place)
        self.place.mkdir(mode=0o700)
        try:
            data = self.pack.read_bytes()
        except FileNotFoundError:
            return self._said("cold: none kept yet")
        except OSError as error:
            return self._said(f"cold: {self.pack.name}: {error.strerror}")
        try:
            unpack(data, self.place)
        except ValueError as error:
            remove_tree(self.place)
            self.place.mkdir(mode=0o700)
            return self._said(f"cold: {self.pack.name}: {error}")
        self._files = len(_contents(self.place))
        return self._said("warm")

    def use(self) -> None:
        """For every rank, after `open` on the first."""
        os.environ[FOLDER] = str(self.place)
        if HEADERS not in os.environ and hasattr(inductor, "cpp_cache_precompile_headers"):
            inductor.cpp_cache_precompile_headers = False

    def keep(self) -> int:
        """Pack what has been compiled since. Returns bytes written, 0 for nothing new. OSError: disk full."""
        files = _contents(self.place)
        if self._lock is None or len(files) == self._files:
            return 0
        data = packed(self.place, files)
        self.pack.parent.mkdir(parents=True, exist_ok=True)
        replace(self.pack, data)
        self._files = len(files)
        return len(data)

    def _said(self, how: str) -> str:
        self.how = how
        return how

    def _alone(self) -> bool:
        self._lock = os.open(self.place.with_name(f"{self.place.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            self._lock = None
            self.place = self.place.with_name(f"{self.place.name}-{os.getpid()}")
            self.place.mkdir(mode=0o700)
        return self._lock is not None


def _contents(folder: Path) -> list[Path]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if not SKIPPED.search(path.as_posix()))


def packed(folder: Path, files: list[Path]) -> bytes:
    """One line of JSON with the hash of the tar that follows."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for path in files:
            tar.add(folder / path, arcname=path.as_posix(), recursive=False)
    data = stream.getvalue()
    head = {"version": VERSION, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return json.dumps(head).encode() + b"\n" + data


def unpack(data: bytes, folder: Path) -> None:
    """ValueError, with nothing unpacked, for what `packed` didn't write."""
    line, _, body = data.partition(b"\n")
    try:
        head = json.loads(line)
        wanted = (head["version"], head["bytes"], head["sha256"])
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError("it is no pack of kernels") from error
    if wanted != (VERSION, len(body), hashlib.sha256(body).hexdigest()):
        raise ValueError("its content is not what was written")
    with tarfile.open(fileobj=io.BytesIO(body)) as tar:
        tar.extractall(folder, filter="data")

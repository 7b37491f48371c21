"""A preset for real: built beside pip in turn, packed, unpacked elsewhere, verified; sizes and seconds.

The part of `tests.campaigns.runtime` that needs an index: 3 GB a build, and again for pip.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bootstrap.runtime.ensure import Installed, RuntimePlace, ensure_preset
from bootstrap.runtime.pack import pack_size
from bootstrap.runtime.presets import Preset, preset
from bootstrap.runtime.seal import NAME, Seal, is_mapped, read_seal
from bootstrap.runtime.tree import verify
from tests.bootstrap.runtime.support import standin
from tests.bootstrap.runtime.support.folder_store import FolderStore
from tests.bootstrap.runtime.support.hardship import MIB

Figures = dict[str, object]
PROBE = (
    "import json, torch, torchvision; from torch.backends import cudnn; "
    "nccl = torch.cuda.nccl.version() if torch.version.cuda else None; "
    "print(json.dumps([torch.__version__, torchvision.__version__, torch.version.cuda, cudnn.version(), "
    "nccl, torch.ones(3).sum().item()]))"
)


def say(text: str) -> None:
    """To standard error, with the time."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def seconds(act: Callable[[], object]) -> float:
    """How long something takes."""
    began = time.monotonic()
    act()
    return round(time.monotonic() - began, 2)


def spent() -> float:
    """Processor seconds of this process and of the children that it waited for, however busy the machine."""
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


def with_python(wanted: Preset, python: str, where: Path) -> Preset:
    """The preset with the CPython that is here, made known to uv."""
    where.mkdir()
    program = [python, standin.__file__, str(where)]
    version = subprocess.run(program, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    os.environ["UV_PYTHON_DOWNLOADS_JSON_URL"] = str(where / "cpythons.json")
    return replace(wanted, python=version)


def by_pip(wanted: Preset, python: str, where: Path) -> float:
    """The same packages by the same hashes with pip into a virtual environment, nothing cached."""
    where.mkdir()
    (where / "lock.txt").write_text(wanted.lock, encoding="utf-8")
    environment = where / "venv"
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-cache-dir"]
    exact = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(where / "lock.txt")]

    def act() -> None:
        subprocess.run([python, "-m", "venv", str(environment)], check=True)
        subprocess.run([*pip, *exact], check=True)

    try:
        return seconds(act)
    finally:
        shutil.rmtree(where)


def real(name: str, python: str, where: Path, rounds: int) -> Figures:
    """One preset for real: built, packed, unpacked elsewhere, verified; `rounds` times in turn with pip.

    Without rounds it's built once, and not with pip.
    """
    wanted = with_python(preset(name, os.uname().machine), python, where / "cpython")
    store, builds, pips = FolderStore(where / "bucket"), list[float](), list[float]()
    processor: dict[str, list[float]] = {"build": [], "pip": []}
    made: Installed | None = None
    for _ in range(max(1, rounds)):
        if made:
            shutil.rmtree(where / "built")
        place = RuntimePlace(where / "built")
        before = spent()
        made = ensure_preset(wanted, place, None, say, lambda: None)
        processor["build"].append(round(spent() - before, 1))
        builds.append(made.seconds["build"])
        say(f"built: {made.seconds}")
        if rounds:
            before = spent()
            pips.append(by_pip(wanted, python, where / "pip"))
            processor["pip"].append(round(spent() - before, 1))
            say(f"pip: {pips[-1]} s; {processor}")
    assert made is not None
    kept = ensure_preset(wanted, RuntimePlace(where / "built"), store, say, lambda: None)
    seal = sealed_at(made.folder)
    figures: Figures = {
        "python": wanted.python,
        "build_s": builds,
        "pip_s": pips,
        "processor_s": processor,
        "pack_s": kept.seconds["pack"],
    }
    figures |= sizes(seal)
    shutil.rmtree(where / "built")
    figures |= unpacked(wanted, store, where / "other place")
    figures["compressed"] = compressed(store.path(wanted.key))
    return figures


def sealed_at(tree: Path) -> Seal:
    """Its seal."""
    return read_seal((tree / NAME).read_text(encoding="utf-8"))


def sizes(seal: Seal) -> Figures:
    """In MiB, and how many files."""
    libraries = sum(each.size for each in seal.files if is_mapped(each.path))
    return {
        "files": len(seal.files),
        "mib": seal.size // MIB,
        "libraries_mib": libraries // MIB,
        "pack_mib": pack_size(seal) // MIB,
        "seal_kib": len(seal.to_json()) // 1024,
    }


def unpacked(wanted: Preset, store: FolderStore, where: Path) -> Figures:
    """As a later boot does it, in another folder; what it says of itself; how long looking at it takes."""
    made = ensure_preset(wanted, RuntimePlace(where, flush="now"), store, say, lambda: None)
    assert made.how == "unpacked", made
    answer = subprocess.run([made.python, "-c", PROBE], check=True, stdout=subprocess.PIPE, text=True).stdout
    seal = sealed_at(made.folder)
    figures: Figures = {"unpack_s": made.seconds["unpack"], "flush_s": made.seconds["flush"]}
    for what, full, warm in (("quick", False, True), ("quick_cold", False, False), ("full", True, True)):
        if not warm:
            forget(made.folder)
        figures[f"{what}_verify_s"] = seconds(lambda full=full: check(made.folder, seal, full))
    return {**figures, "says": json.loads(answer)}


def check(tree: Path, seal: Seal, full: bool) -> None:
    """It must be as sealed."""
    damage = verify(tree, seal, full)
    assert damage == (), damage[:3]


def forget(tree: Path) -> None:
    """Let the kernel drop these files from memory, as after a boot."""
    os.sync()
    for path in tree.rglob("*"):
        if path.is_file() and not path.is_symlink():
            file = os.open(path, os.O_RDONLY)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


def compressed(path: Path) -> Figures:
    """A sample of the pack, 16 MiB of every 128: share that is left, MiB/s in and out on one core."""
    sample = b""
    with path.open("rb") as file:
        for at in range(0, path.stat().st_size, 128 * MIB):
            file.seek(at)
            sample += file.read(16 * MIB)
    found: Figures = {"sample_mib": len(sample) // MIB, "gzip-1": _gzip(sample)}
    for level in (1, 3):
        if shutil.which("zstd"):
            found[f"zstd-{level}"] = _zstd(sample, level)
    return found


def _gzip(sample: bytes) -> list[float]:
    began = time.monotonic()
    small = zlib.compress(sample, 1)
    middle = time.monotonic()
    zlib.decompress(small)
    return _rates(len(sample), len(small), middle - began, time.monotonic() - middle)


def _zstd(sample: bytes, level: int) -> list[float]:
    began = time.monotonic()
    small = subprocess.run(
        ["zstd", f"-{level}", "-q", "-c"], input=sample, check=True, capture_output=True
    ).stdout
    middle = time.monotonic()
    subprocess.run(["zstd", "-d", "-q", "-c"], input=small, check=True, capture_output=True)
    return _rates(len(sample), len(small), middle - began, time.monotonic() - middle)


def _rates(whole: int, small: int, pack_s: float, unpack_s: float) -> list[float]:
    return [round(small / whole, 3), round(whole / MIB / pack_s), round(whole / MIB / unpack_s)]

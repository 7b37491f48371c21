"""Rounds of what befalls a node: killed at any moment, out of room at any byte, tampered with anywhere."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bootstrap.runtime.mark import boot_id
from bootstrap.runtime.pack import pack_size
from bootstrap.runtime.seal import NAME, Seal, read_seal
from bootstrap.runtime.standing import Folders, looked_at
from bootstrap.runtime.tree import verify
from tests.bootstrap.runtime.support.lane import Lane, told

MIB = 1 << 20
KILLS = 3
"""Of one node in a row, before it may come to its end."""


@dataclass
class Outcome:
    """How rounds went; `problems` is empty when all held."""

    rounds: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, object]:
        """For JSON."""
        return {"rounds": self.rounds, "counts": dict(self.counts), "problems": self.problems}


def reason_to_skip() -> str | None:
    """Why no small filesystem can be mounted here, or None."""
    if os.geteuid() != 0:
        return "needs root to mount a small filesystem"
    return None if shutil.which("mount") else "needs mount"


@contextmanager
def small_disk(folder: Path, size: int) -> Generator[Path]:
    """A filesystem of `size` bytes in memory."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def enlarge(folder: Path, size: int) -> None:
    """Give it room while it's mounted."""
    subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)


def sealed(folders: Folders) -> Seal:
    """The seal of what stands."""
    return read_seal((folders.tree / NAME).read_text(encoding="utf-8"))


def kills(
    lane: Lane, nodes: int, longest_s: float, chance: random.Random, base: Path, fresh: bool = False
) -> Outcome:
    """Each node is killed up to three times at any moment up to `longest_s`, then comes to its end.

    With `fresh` each begins with an empty bucket, so that it builds.
    After each kill: what is marked as standing is whole in every byte, and so is what lies in the bucket.
    """
    outcome = Outcome()
    for number in range(nodes):
        root = base / f"node-{number}"
        _empty(lane, fresh)
        for _ in range(chance.randint(1, KILLS)):
            outcome.rounds += 1
            outcome.counts[_killed(lane, root, chance.uniform(0, longest_s))] += 1
            outcome.problems += _half_done(lane, lane.folders(root))
        last = lane.make(root)
        outcome.counts[f"then {last['how']}"] += 1
        outcome.problems += _not_whole(lane.folders(root), str(last["how"]))
        shutil.rmtree(root)
    return outcome


def _killed(lane: Lane, root: Path, after_s: float) -> str:
    process = lane.start(root)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(after_s)
    if process.poll() is not None:
        return f"ended before, {told(process)['how']}"
    process.kill()
    out, _ = process.communicate()
    lines = [line.split(": ", 1)[-1] for line in out.splitlines()]
    return f"killed after `{' '.join(lines[-1].split()[:1])}`" if lines else "killed before its first word"


def _half_done(lane: Lane, folders: Folders) -> list[str]:
    found = looked_at(folders, lane.wanted.id, boot_id(), lambda: None)
    problems = _not_whole(folders, "stands") if found.stands else []
    kept = lane.store.find(lane.wanted.key)
    if kept and found.seal and found.stands and kept.size != pack_size(found.seal):
        problems.append(f"a pack of {kept.size} bytes")
    return problems


def _not_whole(folders: Folders, how: str) -> list[str]:
    if how not in {"built", "unpacked", "stood", "stands"}:
        return [f"it ended with {how}"]
    return [f"{how}, but {each}" for each in verify(folders.tree, sealed(folders), full=True)]


def full_disks(lane: Lane, sizes: list[int], base: Path, fresh: bool = False) -> Outcome:
    """Make it where `sizes` bytes are too few, without looking first; then with room."""
    outcome = Outcome()
    for number, size in enumerate(sizes):
        outcome.rounds += 1
        _empty(lane, fresh)
        with small_disk(base / f"disk-{number}", size) as root:
            found = lane.make(root, blind=True)
            outcome.counts[str(found["how"])] += 1
            if found["how"] == "problem":
                left = [each.name for each in root.iterdir() if each.suffix != ".lock"]
                if "the disk full" not in str(found["found"]) or left:
                    outcome.problems.append(f"{size // MIB} MiB: {found['problem']}; left {left}")
                enlarge(root, 512 * MIB)
                found = lane.make(root, blind=True)
            outcome.problems += _not_whole(lane.folders(root), str(found["how"]))
    return outcome


def tampering(lane: Lane, root: Path, rounds: int, chance: random.Random) -> Outcome:
    """One thing is changed in what stands; it must be noticed, named and mended, and quickly unless sly."""
    outcome = Outcome()
    folders = lane.folders(root)
    assert lane.make(root)["how"] in {"stood", "unpacked"}
    ways = ("cut", "byte", "gone", "planted", "swapped", "mark", "seal", "sly byte", "sly library")
    for number in range(rounds):
        outcome.rounds += 1
        way = ways[number % len(ways)]
        path = _spoil(folders, sealed(folders), way, chance)
        quick = looked_at(folders, lane.wanted.id, boot_id(), lambda: None)
        full = looked_at(folders, lane.wanted.id, boot_id(), lambda: None, full=True)
        when = "NOT" if full.stands else "in full" if quick.stands else "quickly"
        outcome.counts[f"{way}: {when}"] += 1
        if full.stands or (quick.stands and way != "sly byte"):
            outcome.problems.append(f"{way} of {path} not noticed")
        if quick.stands:
            folders.mark.write_text(folders.mark.read_text().replace(boot_id(), "x").replace("true", "false"))
        found = lane.make(root)
        if found["how"] != "unpacked" or not found["notes"]:
            outcome.problems.append(f"{way} of {path}: {found['how']}, {found['notes']}")
        outcome.problems += _not_whole(folders, str(found["how"]))
    return outcome


def _spoil(folders: Folders, seal: Seal, way: str, chance: random.Random) -> str:
    """Change one thing; `sly` puts the time of change back, as who means harm would."""
    libraries = [each for each in seal.files if ".so" in each.path and each.size]
    others = [each for each in seal.files if each.path.endswith((".py", ".bin")) and each.size > 10]
    chosen = chance.choice(libraries if way == "sly library" else others)
    path = folders.tree / chosen.path
    seen = path.stat()
    if way == "cut":
        os.truncate(path, chance.randrange(chosen.size))
    elif way == "gone":
        path.unlink()
    elif way == "planted":
        (path.parent / "sitecustomize.py").write_text("print('hello')\n")
    elif way == "swapped":
        path.unlink()
        path.symlink_to("/etc/hostname")
    elif way == "mark":
        folders.mark.write_bytes(folders.mark.read_bytes()[: chance.randrange(100)])
    elif way == "seal":
        (folders.tree / NAME).write_bytes((folders.tree / NAME).read_bytes()[: chance.randrange(1000)])
    else:
        _flip(path, chance)
        if way.startswith("sly"):
            os.utime(path, ns=(seen.st_mtime_ns, seen.st_mtime_ns))
    return chosen.path


def _flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= chance.randint(1, 255)
    path.write_bytes(data)


def _empty(lane: Lane, fresh: bool) -> None:
    if fresh:
        lane.pack.unlink(missing_ok=True)


def measured_s(lane: Lane, root: Path, fresh: bool = False) -> float:
    """Seconds that a node takes here, from nothing to its end; with `fresh` from an empty bucket, too."""
    _empty(lane, fresh)
    began = time.monotonic()
    lane.make(root)
    shutil.rmtree(root)
    return time.monotonic() - began

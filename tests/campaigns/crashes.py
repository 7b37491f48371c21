"""Crashes at random points of saving. JSON on stdout; exit 1 when anything was lost, torn or left over.

    python tests/campaigns/crashes.py [--rounds 200] [--seed 0] [--power]

A forked process trains and saves without a pause into one folder; SIGKILL at a random moment; then the newest
checkpoint must load, be at most one interval old, be no older than what was reported as saved, and the next
start must leave nothing but checkpoints, `latest` and the lock. `--power` (as root) puts the folder on an
ext4 and an xfs of its own and shuts the filesystem down at that moment: what was not synced is gone, as when
the power goes.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import torch

from nightshift.training import Checkpoints, TrainingState
from nightshift.training.folder import Folder, step_of
from nightshift.training.journal import Journal

KEEP = 2
SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2  # _IOR('X', 125, __u32) of <linux/fs.h>, served by ext4 and xfs
IMAGE_BYTES = 512 << 20


@dataclass
class Tally:
    """What the rounds came to."""

    rounds: int = 0
    during_save: int = 0
    lost_steps: list[int] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def made(width: int = 700) -> TrainingState:
    """About 8 MB with the optimizer's state: a save takes long enough to be hit."""
    torch.manual_seed(0)
    model = torch.nn.Linear(width, width)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    model(torch.ones(1, width)).sum().backward()
    optimizer.step()
    return TrainingState(model, [optimizer])


def train(root: Path, tell: Callable[[str, int], None]) -> None:
    """Resume, then step and save for ever. The model's bias says which step it is of."""
    state = made()
    checkpoints = Checkpoints(root, keep=KEEP, journal=Journal(None, speaks=False))
    litter = [path.name for path in root.iterdir() if not kept(path.name)]
    loaded = checkpoints.load(state)
    step = loaded.step if loaded else 0
    bias = state.model.get_parameter("bias")
    if litter or (loaded and bias[0].item() != step):
        tell("litter" if litter else "torn", step)
    tell("resumed", step)
    while True:
        step += 1
        with torch.no_grad():
            bias.fill_(float(step))
        tell("saving", step)
        checkpoints.start(state, step=step, position=step)
        report = checkpoints.finish()
        if report is None or report.error:
            tell("failed", step)
        else:
            tell("saved", step)


def kept(name: str) -> bool:
    return step_of(name) is not None or name in {"latest", ".lock", "lost+found"}


def forked(root: Path) -> tuple[int, int]:
    """A training process and the pipe it tells its steps through."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    try:
        os.close(reading)
        train(root, lambda word, step: (os.write(writing, f"{word} {step}\n".encode()), None)[1])
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(3)


def told(reading: int) -> list[tuple[str, int]]:
    with os.fdopen(reading) as stream:
        return [(word, int(step)) for word, step in (line.split() for line in stream)]


def crashed(root: Path, after_s: float, before_kill: Callable[[], None]) -> list[tuple[str, int]]:
    """What a process told until it was killed, `after_s` after it had saved once."""
    child, reading = forked(root)
    heard = b""
    while b"saved" not in heard:
        piece = os.read(reading, 4096)
        if not piece:
            os.waitpid(child, 0)
            raise SystemExit(f"the process ended by itself: {heard.decode()}")
        heard += piece
    time.sleep(after_s)
    before_kill()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    rest = told(reading)
    first = [(word, int(step)) for word, step in (line.split() for line in heard.decode().splitlines())]
    return first + rest


def judge(root: Path, lines: list[tuple[str, int]], tally: Tally, wrong: frozenset[str]) -> None:
    """Compare what stands with what was told."""
    saved = max((step for word, step in lines if word == "saved"), default=0)
    began = min((step for word, step in lines if word == "saving" and step > saved), default=saved)
    bad = [f"{word} at step {step}" for word, step in lines if word in wrong]
    found = Folder(root, KEEP).find()
    tally.rounds += 1
    tally.during_save += began > saved
    tally.lost_steps.append(began - found.step)
    if found.step < saved:
        bad.append(f"step {saved} was reported as saved, the newest whole one is {found.step}")
    if began - found.step > 1:
        bad.append(f"the newest whole one is {began - found.step} intervals old")
    if found.broken:
        bad.append(f"under its final name, but not whole: {[str(path) for path, _ in found.broken]}")
    named = (root / "latest").read_text().strip()
    if step_of(named) is None or not (root / named).is_dir():
        bad.append(f"latest says {named!r}")
    tally.failures += [f"round {tally.rounds}: {one}" for one in bad]


def campaign(root: Path, rounds: int, chance: random.Random, disk: Disk | None) -> Tally:
    """All rounds in one folder, each resuming what the one before left."""
    tally, save_s = Tally(), timed_save(root)
    for _ in range(rounds):
        shut = disk.shut if disk else lambda: None
        lines = crashed(root, chance.uniform(0, 2 * save_s), shut)
        if disk:
            disk.again()
        judge(root, lines, tally, frozenset({"litter", "torn"} | (set() if disk else {"failed"})))
    return tally


def warm(root: Path) -> None:
    """Let torch import here what it imports at a first save and load, so that no child has to."""
    checkpoints = Checkpoints(root, journal=Journal(None, speaks=False))
    checkpoints.start(made(8), step=1, position=1)
    checkpoints.finish()
    checkpoints.load(made(8))
    checkpoints.close()


def timed_save(root: Path) -> float:
    """Seconds of one save here, so that the moments spread over all of it."""
    child, reading = forked(root)
    time.sleep(3)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    lines = told(reading)
    return 3 / max(1, sum(word == "saved" for word, _ in lines))


@dataclass(frozen=True)
class Disk:
    """A filesystem of its own in a file."""

    image: Path
    root: Path

    def mount(self) -> None:
        _said("mount", "-o", "loop", str(self.image), str(self.root))

    def unmount(self) -> None:
        _said("umount", str(self.root))

    def shut(self) -> None:
        """From here on nothing reaches the image, not even the journal of what was written before."""
        descriptor = os.open(self.root, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        finally:
            os.close(descriptor)

    def again(self) -> None:
        self.unmount()
        self.mount()


@contextmanager
def own_disk(base: Path, kind: str) -> Generator[Disk]:
    disk = Disk(base / f"{kind}.img", base / kind)
    disk.root.mkdir()
    with disk.image.open("wb") as image:
        image.truncate(IMAGE_BYTES)
    _said(f"mkfs.{kind}", "-q", str(disk.image))
    disk.mount()
    try:
        yield disk
    finally:
        disk.unmount()


def _said(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")


def summary(kind: str, tally: Tally, began: float) -> dict[str, object]:
    return {
        "crash": kind,
        "rounds": tally.rounds,
        "during_a_save": tally.during_save,
        "intervals_lost_at_most": max(tally.lost_steps, default=0),
        "failures": tally.failures,
        "seconds": round(time.monotonic() - began, 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--power", action="store_true", help="drop what was not synced (root, loop devices)")
    parser.add_argument("--folder", type=Path, default=None)
    options = parser.parse_args()
    torch.set_num_threads(1)
    chance, results = random.Random(options.seed), []
    with tempfile.TemporaryDirectory(dir=options.folder) as base:
        warm(Path(base) / "warm")
        for kind in ("ext4", "xfs") if options.power else ("SIGKILL",):
            began = time.monotonic()
            if options.power:
                with own_disk(Path(base), kind) as disk:
                    tally = campaign(disk.root, options.rounds, chance, disk)
            else:
                (Path(base) / "run").mkdir()
                tally = campaign(Path(base) / "run", options.rounds, chance, None)
            results.append(summary(kind, tally, began))
    print(json.dumps({"what": "crashes while saving", "seed": options.seed, "results": results}))
    return int(any(one["failures"] for one in results))


if __name__ == "__main__":
    raise SystemExit(main())

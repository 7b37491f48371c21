"""From the kill of a rank to the first new step: this project's Run beside a plain script that resumes too.

Both under the same torchrun, with the one setting without which it was seen to hang on a restart
(TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1). Sessions alternate; in each a random rank is killed again and again,
a random while after it has stepped. JSON on stdout, a table on stderr. Exit 1 when ours hangs or its median
is over the bound. On a GPU the same command uses nccl and as many ranks as there are GPUs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import torch

BOUND = 1.1
PATIENCE_S = 90.0
STEPS_BEFORE = 12
WORKER = Path(__file__).with_name("restart_worker.py")
SETTING = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}


@dataclass(frozen=True)
class Line:
    """A step that a rank has done: when (unix s), by which process."""

    at: float
    pid: int
    rank: int
    step: int


@dataclass
class Session:
    """One torchrun with its ranks."""

    way: str
    folder: Path
    ranks: int
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        command = [
            *(sys.executable, "-m", "torch.distributed.run", "--nnodes=1", f"--nproc-per-node={self.ranks}"),
            *("--rdzv-backend=c10d", f"--rdzv-endpoint=127.0.0.1:{_free_port()}"),
            *(
                f"--rdzv-id={self.folder.name}",
                "--max-restarts=1000",
                str(WORKER),
                self.way,
                str(self.folder),
            ),
        ]
        with (self.folder / "said").open("wb") as said:
            self.process = subprocess.Popen(
                command, env={**os.environ, **SETTING, "OMP_NUM_THREADS": "1"}, stderr=said, stdout=said
            )

    def lines(self) -> list[Line]:
        found = []
        for path in self.folder.glob("steps-*"):
            for text in path.read_text().splitlines():
                at, pid, rank, step = text.split()
                found.append(Line(float(at), int(pid), int(rank), int(step)))
        return sorted(found, key=lambda one: one.at)

    def first_step(self, old: frozenset[int], *, steps: int = 1) -> Line | None:
        """Rank 0's, of processes that are not `old`; None when it takes too long."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            new = [one for one in self.lines() if one.pid not in old and one.rank == 0]
            if len(new) >= steps:
                return new[steps - 1]
            if self.process.poll() is not None:
                raise SystemExit((self.folder / "said").read_text()[-3000:])
            time.sleep(0.02)
        return None

    def end(self) -> None:
        """torchrun and every rank that ever stepped and still runs."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        for pid in {one.pid for one in self.lines()}:
            if _is_ours(pid):
                os.kill(pid, signal.SIGKILL)


def _is_ours(pid: int) -> bool:
    try:
        return WORKER.name.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def killed(session: Session, chance: random.Random, kills: int) -> list[float | None]:
    """Seconds from each kill to the first new step; None for a hang, which ends the session."""
    taken: list[float | None] = []
    old: frozenset[int] = frozenset()
    for _ in range(kills):
        if session.first_step(old, steps=STEPS_BEFORE) is None:
            return [*taken, None]
        time.sleep(chance.uniform(0, 0.3))
        ranks = {one.rank: one.pid for one in session.lines() if one.pid not in old}
        old |= set(ranks.values())
        began = time.time()
        os.kill(chance.choice(sorted(ranks.values())), signal.SIGKILL)
        first = session.first_step(old)
        if first is None:
            return [*taken, None]
        taken.append(first.at - began)
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="kills of each way")
    parser.add_argument("--kills", type=int, default=5, help="kills in one session")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    ranks = torch.cuda.device_count() if torch.cuda.is_available() else 2
    chance = random.Random(options.seed)
    taken: dict[str, list[float | None]] = {"plain": [], "ours": []}
    with tempfile.TemporaryDirectory() as base:
        for number in range(-(-options.rounds // options.kills)):
            for way in random.Random(number).sample(sorted(taken), 2):
                session = Session(way, Path(base) / f"{way}{number}", ranks)
                try:
                    taken[way] += killed(session, chance, options.kills)
                finally:
                    session.end()
    figures = {way: figure(times) for way, times in taken.items()}
    ratio = figures["ours"]["p50_s"] / figures["plain"]["p50_s"]
    report = {
        "what": "kill to first new step",
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
        "ranks": ranks,
        "torch": torch.__version__,
        "load_average": os.getloadavg()[0],
        **figures,
        "ratio_of_medians": ratio,
        "bound": BOUND,
        "seconds": taken,
    }
    print(json.dumps(report))
    for way, one in figures.items():
        print(
            f"{way:6} n={one['n']:.0f} p50 {one['p50_s']:.2f} s, worst {one['worst_s']:.2f} s, "
            f"hung {one['hung']:.0f}",
            file=sys.stderr,
        )
    print(f"ours / plain {ratio:.3f} (bound {BOUND})", file=sys.stderr)
    return int(ratio > BOUND or figures["ours"]["hung"] > 0)


def figure(times: list[float | None]) -> dict[str, float]:
    ended = [one for one in times if one is not None]
    return {
        "n": len(times),
        "hung": len(times) - len(ended),
        "p50_s": statistics.median(ended),
        "worst_s": max(ended),
    }


if __name__ == "__main__":
    raise SystemExit(main())

"""The trainer killed at random steps and resumed, against the run that nobody disturbed. JSON on stdout.

    python tests/campaigns/trainer_kills.py [--rounds 5] [--seed 0] [--worlds 2,1,2]

Real ranks over gloo, forked from one process that has torch loaded, in deterministic mode. Per round: one run
of equal worlds, killed twice, whose losses must be bit-equal to the unbroken run's; one whose world changes
at each kill, whose losses must agree closely (a sum over two ranks isn't rounded as over one). Exit 1
otherwise.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch._dynamo

from nightshift.training.trainer import loop
from nightshift.training.trainer.main import main as trainer
from tests.campaigns.resumes import free_port, reaped

STEPS = 24
FLAGS = (
    *("--model=vit-toy", "--classes=10", "--samples=100", "--batch=16", "--workers=0", f"--steps={STEPS}"),
    *("--warmup-steps=4", "--lr=3e-3", "--log-every=1", "--no-tensorboard", "--deterministic"),
    *("--save-every-steps=3", "--evaluate-every=1", "--timeout-s=60"),
)
CLOSE = 1e-3


@dataclass(frozen=True)
class Kill:
    """SIGKILL of one rank at the end of a step, so many seconds later."""

    rank: int
    step: int
    after_s: float


def armed(kill: Kill) -> None:
    """Let this process die there."""
    update = loop.Engine.update

    def updated(self: loop.Engine) -> None:
        update(self)
        if self.scheduler.last_epoch == kill.step:
            signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
            signal.setitimer(signal.ITIMER_REAL, max(kill.after_s, 1e-6))

    loop.Engine.update = updated


def ranked(rank: int, world: int, port: int, root: Path, kill: Kill | None) -> None:
    """What a forked rank does; it doesn't come back."""
    code = 1
    try:
        with (root / f"said{rank}").open("a") as said:
            os.dup2(said.fileno(), 2)
        os.environ |= {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(world),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
        }
        if kill and kill.rank == rank:
            armed(kill)
        code = trainer([*FLAGS, f"--folder={root / 'ck'}"])
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def launch(world: int, root: Path, kill: Kill | None) -> tuple[int, ...]:
    """Exit codes of the ranks; ones that outlive a killed one and don't end are ended."""
    root.mkdir(exist_ok=True)
    port = free_port()
    children = []
    for rank in range(world):
        child = os.fork()
        if child == 0:
            ranked(rank, world, port, root, kill)
        children.append(child)
    return tuple(reaped(child) for child in children)


def series(worlds: list[int], root: Path, chance: random.Random) -> list[dict[str, Any]]:
    """Launch after launch in one folder, all but the last one killed."""
    said = []
    edges = [round(part * STEPS / len(worlds)) for part in range(1, len(worlds))]
    for number, world in enumerate(worlds):
        kill = None
        if number < len(worlds) - 1:
            step = chance.randint(edges[number] - 3, edges[number])
            kill = Kill(chance.randrange(world), step, chance.uniform(0, 0.1))
        said.append({"world": world, "kill": kill and vars(kill), "codes": launch(world, root, kill)})
    return said


def losses(root: Path) -> dict[int, float]:
    """By step; what a later launch did again replaces what was lost."""
    lines = (root / "ck" / "records" / "metrics.jsonl").read_text().splitlines()
    return {one["step"]: one["loss"] for one in map(json.loads, lines) if "loss" in one}


def faults(
    said: list[dict[str, Any]], found: dict[int, float], straight: dict[int, float], close: float
) -> list[str]:
    """What is not as in the unbroken run."""
    wrong = []
    if any(one["codes"][one["kill"]["rank"]] != -9 for one in said[:-1]):
        wrong.append("a kill missed")
    if any(-99 in one["codes"] for one in said):
        wrong.append("a rank hung")
    if any(said[-1]["codes"]):
        wrong.append("the last launch failed")
    if found.keys() != straight.keys():
        wrong.append(f"steps {sorted(found.keys() ^ straight.keys())} are in only one of the runs")
    elif not all(math.isclose(found[step], straight[step], rel_tol=close, abs_tol=0.0) for step in found):
        first = min(step for step in found if found[step] != straight[step])
        wrong.append(f"losses differ from step {first} on: {found[first]!r}, {straight[first]!r}")
    return wrong


def verdict(base: Path, rounds: int, worlds: list[int], chance: random.Random) -> dict[str, object]:
    first = series([2], base / "unbroken", chance)
    straight = losses(base / "unbroken")
    failures: list[object] = [{"unbroken": first}] if any(first[0]["codes"]) else []
    for number in range(rounds):
        for kind, plan, close in (("equal", [2, 2, 2], 0.0), ("changing", worlds, CLOSE)):
            root = base / f"{kind}{number}"
            said = series(plan, root, chance)
            if wrong := faults(said, losses(root), straight, close):
                failures.append({"round": number, "kind": kind, "wrong": wrong, "launches": said})
    kills = rounds * (2 + len(worlds) - 1)
    return {"what": "the trainer resumed", "rounds": rounds, "kills": kills, "failures": failures}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worlds", default="2,1,2")
    options = parser.parse_args()
    torch.set_num_threads(1)
    began = time.monotonic()
    worlds = [int(one) for one in options.worlds.split(",")]
    with tempfile.TemporaryDirectory() as base:
        result = verdict(Path(base), options.rounds, worlds, random.Random(options.seed))
    print(json.dumps({**result, "seed": options.seed, "seconds": round(time.monotonic() - began, 1)}))
    return int(bool(result["failures"]))


if __name__ == "__main__":
    raise SystemExit(main())

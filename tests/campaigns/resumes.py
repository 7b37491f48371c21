"""Runs killed at random steps and resumed, against the run that nobody disturbed. JSON on stdout.

    python tests/campaigns/resumes.py [--rounds 3] [--seed 0] [--worlds 2,1,2]

Real ranks over gloo, forked from one process that has torch loaded. Per round: one run of equal worlds,
killed twice, whose losses must be bit-equal to the unbroken run's; one likewise of two nodes with a folder
each, of which one goes missing; one whose world changes at each kill. In all, the steps that stand must have
trained on every sample of an epoch exactly once. Exit 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from nightshift.training import Loader, Run

SAMPLES = 37  # no multiple of the batch: batches straddle epochs
BATCH = 8
EPOCHS = 5
SAVE_EVERY = 3
PATIENCE_S = 120.0
History = dict[int, dict[int, dict[str, Any]]]


@dataclass(frozen=True)
class Kill:
    """SIGKILL of one rank at the end of a step, so many seconds later."""

    rank: int
    step: int
    after_s: float


class Points:
    """Samples that know their number; each draws noise, as an augmentation does."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int, int]:
        centre = torch.randn(16, generator=torch.Generator().manual_seed(index))
        return centre + 0.1 * torch.randn(16), index % 4, index


def train(rank: int, world: int, port: int, root: Path, log: Path, kill: Kill | None) -> None:
    dist.init_process_group(
        "gloo",
        init_method=f"tcp://127.0.0.1:{port}",
        rank=rank,
        world_size=world,
        timeout=timedelta(seconds=60),
    )
    torch.manual_seed(7)
    model = torch.nn.Sequential(
        torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(64, 4)
    )
    model = DistributedDataParallel(model)
    torch.manual_seed(100 + rank)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 30)
    run = Run(
        model=model,
        optimizer=optimizer,
        scheduler=scheduler,
        loader=Loader(Points(), batch=BATCH),
        epochs=EPOCHS,
        folder=root,
        save_every_steps=SAVE_EVERY,
    )
    with log.open("a") as lines:
        for inputs, labels, numbers in run:
            loss = torch.nn.functional.cross_entropy(model(inputs), labels)
            optimizer.zero_grad()
            line = {"step": run.step, "loss": float(loss).hex(), "ids": numbers.tolist()}
            lines.write(json.dumps(line) + "\n")  # before the ranks meet: another's disk may keep this step
            lines.flush()
            loss.backward()
            optimizer.step()
            scheduler.step()
            if kill and kill.rank == rank and kill.step == run.step:
                signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
                signal.setitimer(signal.ITIMER_REAL, max(kill.after_s, 1e-6))
    dist.destroy_process_group()


def launch(world: int, root: Path, logs: Path, kill: Kill | None, apart: bool) -> tuple[int, ...]:
    """Exit codes of the ranks; ones that outlive a killed one and don't end are ended."""
    port = free_port()
    children = []
    for rank in range(world):
        child = os.fork()
        if child == 0:
            if apart:
                os.environ["GROUP_RANK"] = str(rank)
            own = root / f"node{rank}" if apart else root
            _leave(partial(train, rank, world, port, own, logs / f"rank{rank}", kill), logs, rank)
        children.append(child)
    return tuple(reaped(child) for child in children)


def _leave(act: Callable[[], None], logs: Path, rank: int) -> None:
    code = 1
    try:
        with (logs / f"said{rank}").open("a") as said:
            os.dup2(said.fileno(), 2)
        act()
        code = 0
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def reaped(child: int) -> int:
    """Its exit code, -99 when it had to be killed after PATIENCE_S."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -99


def free_port() -> int:
    """One of loopback's that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def history(folders: list[Path]) -> History:
    """{step: {rank: line}} of the steps that stand: what a later launch did again replaces what was lost."""
    found: History = {}
    for folder in folders:
        here: History = {}
        for log in folder.glob("rank*"):
            rank = int(log.name.removeprefix("rank"))
            for line in map(json.loads, log.read_text().splitlines()):
                here.setdefault(line["step"], {})[rank] = line
        first = min(here, default=0)
        found = {step: ranks for step, ranks in found.items() if step < first} | here
    return found


def sample_faults(found: History) -> list[str]:
    """Epochs that didn't have every sample exactly once, in the order of steps."""
    row = [
        number
        for step in sorted(found)
        for rank in sorted(found[step])
        for number in found[step][rank]["ids"]
    ]
    faults = []
    if len(row) < EPOCHS * SAMPLES:
        faults.append(f"{len(row)} samples in all")
    for epoch in range(EPOCHS):
        counts = Counter(row[epoch * SAMPLES : (epoch + 1) * SAMPLES])
        if counts != Counter(range(SAMPLES)):
            faults.append(f"epoch {epoch}: {sorted((Counter(range(SAMPLES)) - counts).elements())} not once")
    return faults


def losses(found: History) -> list[tuple[int, int, object]]:
    return [(step, rank, found[step][rank]["loss"]) for step in sorted(found) for rank in sorted(found[step])]


def harm(root: Path, number: int) -> None:
    """Of two nodes with a volume each: first one loses its newest checkpoint, then the other its volume."""
    if number > 1:
        shutil.rmtree(root / "node1")
        return
    newest = sorted((root / "node0").glob("step-*"))[-1]
    shutil.rmtree(newest)


def series(
    worlds: list[int], base: Path, name: str, chance: random.Random, *, apart: bool = False
) -> tuple[list[Path], list[Any]]:
    """Launch after launch in one folder of checkpoints, all but the last one killed."""
    root, folders, said = base / name, [], []
    total = -(-EPOCHS * SAMPLES // BATCH)
    edges = [round(part * total / len(worlds)) for part in range(1, len(worlds))]
    for number, world in enumerate(worlds):
        last = number == len(worlds) - 1
        kill = None
        if not last:
            step = chance.randint(edges[number] - 2, edges[number])
            kill = Kill(chance.randrange(world), step, chance.uniform(0, 0.05))
        logs = base / f"{name}-{number}"
        logs.mkdir()
        if apart and number:
            harm(root, number)
        codes = launch(world, root, logs, kill, apart)
        folders.append(logs)
        said.append({"world": world, "kill": vars(kill) if kill else None, "codes": codes})
    return folders, said


def verdict(base: Path, rounds: int, worlds: list[int], chance: random.Random) -> dict[str, object]:
    folders, said = series([2], base, "unbroken", chance)
    straight = losses(history(folders))
    failures: list[object] = [] if said[0]["codes"] == (0, 0) else [{"unbroken": said}]
    for number in range(rounds):
        for name, plan in (("equal", [2, 2, 2]), ("apart", [2, 2, 2]), ("changing", worlds)):
            folders, said = series(plan, base, f"{name}{number}", chance, apart=name == "apart")
            found = history(folders)
            wrong = sample_faults(found)
            if any(one["codes"][one["kill"]["rank"]] != -9 for one in said[:-1]):
                wrong.append("a kill missed")
            if any(said[-1]["codes"]):
                wrong.append("the last launch failed")
            if name != "changing" and losses(found) != straight:
                wrong.append("losses differ from the unbroken run's")
            if wrong:
                failures.append({"round": number, "kind": name, "wrong": wrong, "launches": said})
    kills = rounds * (2 + 2 + len(worlds) - 1)
    return {
        "what": "resume equality",
        "rounds": rounds,
        "kills": kills,
        "worlds": worlds,
        "failures": failures,
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worlds", default="2,1,2")
    parser.add_argument("--folder", type=Path, default=None)
    options = parser.parse_args()
    torch.set_num_threads(1)
    began = time.monotonic()
    worlds = [int(one) for one in options.worlds.split(",")]
    with tempfile.TemporaryDirectory(dir=options.folder) as base:
        result = verdict(Path(base), options.rounds, worlds, random.Random(options.seed))
    print(json.dumps({**result, "seed": options.seed, "seconds": round(time.monotonic() - began, 1)}))
    return int(bool(result["failures"]))


if __name__ == "__main__":
    raise SystemExit(main())

"""Stands in for the job of the stack file in a rehearsal: a small model, really trained, never done.

It needs torch alone. The arguments of `job.run` are for the user's own code and aren't used. Each step's loss
is a line of `records/metrics.jsonl` beside the checkpoints, as the trainer that ships writes it.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import Dataset

from nightshift.training import Loader, Run

BATCH, STEPS, SAVE_STEPS = 64, 10_000_000, 20
PAUSE_S = 0.01
"""A step of a real model takes longer: the machine is for the node's other processes too."""


class Digits(Dataset[tuple[torch.Tensor, int]]):
    """Ten noisy patterns to tell apart."""

    def __init__(self) -> None:
        self._patterns = torch.randn(10, 64, generator=torch.Generator().manual_seed(0))

    def __len__(self) -> int:
        return 100_000

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return self._patterns[index % 10] + 2 * torch.randn(64), index % 10


def main() -> None:
    """Until the node is asked to end."""
    torch.set_num_threads(1)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(0)
    model: torch.nn.Module = torch.nn.Sequential(
        torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)
    )
    if dist.is_initialized():
        model = DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    loader = Loader(Digits(), batch=BATCH, workers=0)
    run = Run(
        model=model, optimizer=optimizer, loader=loader, steps=STEPS, keep=2, save_every_steps=SAVE_STEPS
    )
    records = Path(os.environ["NIGHTSHIFT_CHECKPOINTS"]) / "records"
    records.mkdir(exist_ok=True)
    with (records / "metrics.jsonl").open("a", buffering=1) as lines:
        for inputs, labels in run:
            loss = torch.nn.functional.cross_entropy(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if os.environ.get("RANK", "0") == "0":
                told = {"at": round(time.time(), 3), "step": run.step + 1, "loss": round(loss.item(), 6)}
                lines.write(json.dumps(told) + "\n")
            time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()

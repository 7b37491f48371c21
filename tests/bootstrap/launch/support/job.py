"""A training run that is small in everything: one layer, no DDP (its import costs four CPU seconds).

Each step is one line `unix-seconds step world-size process` in the file that STEPS_FILE names, by the first
process of a node. STEPS, STEP_S, SAVE_EVERY_STEPS and WEIGHTS change its size.
"""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist

from nightshift.training import Loader, Run, Synthetic

_BORN = time.time_ns()
"""Names this process. Its id doesn't: a node that was up again gives the same ones."""


def train() -> None:
    """On every rank; gradients are averaged by hand."""
    if "RANK" in os.environ:
        dist.init_process_group(
            "gloo", timeout=timedelta(seconds=float(os.environ.get("GROUP_TIMEOUT_S", "15")))
        )
    world = dist.get_world_size() if dist.is_initialized() else 1
    torch.manual_seed(0)
    width = int(os.environ.get("WEIGHTS", "64"))
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, width), torch.nn.Linear(width, 4))
    run = Run(
        model=model,
        optimizer=[],
        loader=Loader(Synthetic(64, side=4, classes=4), batch=4),
        steps=int(os.environ.get("STEPS", "1000000")),
        save_every_steps=int(os.environ.get("SAVE_EVERY_STEPS", "8")),
    )
    for images, labels in run:
        model.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        for weight in model.parameters():
            if weight.grad is not None:
                if world > 1:
                    dist.all_reduce(weight.grad)
                weight.data -= 0.01 * weight.grad / world
        note(run.step, world)
        time.sleep(float(os.environ.get("STEP_S", "0.1")))
    if dist.is_initialized():
        dist.destroy_process_group()


def note(step: int, world: int) -> None:
    """One write, so that a killed process leaves whole lines."""
    if os.environ.get("LOCAL_RANK", "0") == "0" and (path := os.environ.get("STEPS_FILE")):
        with Path(path).open("a") as stream:
            stream.write(f"{time.time():.3f} {step} {world} {_BORN}\n")


if __name__ == "__main__":
    train()

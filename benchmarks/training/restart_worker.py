"""A rank of the restart benchmark: `plain` saves and resumes by torch.save, `ours` by Run. Not for itself."""

from __future__ import annotations

import os
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

SAVE_EVERY = 10
BATCH = 32
PAUSE_S = 0.01  # a step's least, so that two ranks don't eat the machine while the benchmark waits


class Points(Dataset[tuple[torch.Tensor, int]]):
    def __len__(self) -> int:
        return 1_000_000

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return torch.full((64,), (index % 10) / 10), index % 10


class Teller:
    """Appends each step that is done."""

    def __init__(self, folder: Path) -> None:
        self._rank = dist.get_rank()
        self._stream = (folder / f"steps-{self._rank}").open("a", buffering=1)

    def __call__(self, step: int) -> None:
        self._stream.write(f"{time.time():.4f} {os.getpid()} {self._rank} {step}\n")
        time.sleep(PAUSE_S)


def begun() -> tuple[torch.nn.Module, torch.optim.Optimizer, str]:
    cuda = torch.cuda.is_available()
    device = f"cuda:{os.environ['LOCAL_RANK']}" if cuda else "cpu"
    if cuda:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=60))
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    model = DistributedDataParallel(layers.to(device))
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3), device


def stepped(model: torch.nn.Module, optimizer: torch.optim.Optimizer, batch: Any, device: str) -> None:
    inputs, labels = (one.to(device) for one in batch)
    loss = torch.nn.functional.cross_entropy(model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def plain(folder: Path) -> None:
    """As careful as a plain script is: rank 0 saves all of it and renames; all load at the start."""
    model, optimizer, device = begun()
    tell, path, step = Teller(folder), folder / "state.pt", 0
    if path.exists():
        saved = torch.load(path, map_location=device)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        step = saved["step"]
    sampler = DistributedSampler(Points())
    for batch in DataLoader(Points(), batch_size=BATCH // dist.get_world_size(), sampler=sampler):
        stepped(model, optimizer, batch, device)
        step += 1
        tell(step)
        if step % SAVE_EVERY == 0 and dist.get_rank() == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(state, path.with_suffix(".part"))
            path.with_suffix(".part").replace(path)


def ours(folder: Path) -> None:
    from nightshift.training import Loader, Run

    model, optimizer, device = begun()
    tell = Teller(folder)
    run = Run(
        model=model,
        optimizer=optimizer,
        loader=Loader(Points(), batch=BATCH),
        epochs=10,
        folder=folder / "ck",
        save_every_steps=SAVE_EVERY,
    )
    for batch in run:
        stepped(model, optimizer, batch, device)
        tell(run.step + 1)


if __name__ == "__main__":
    {"plain": plain, "ours": ours}[sys.argv[1]](Path(sys.argv[2]))

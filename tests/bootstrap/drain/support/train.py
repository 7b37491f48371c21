"""A training script as a user has it: nightshift.training, 2 million parameters, never done by itself.

A file `stuck` beside it makes its worker hang at the next step and hear nothing.
"""

from __future__ import annotations

import signal
import time
from pathlib import Path

import torch
from torch.utils.data import Dataset

from nightshift.training import Loader, Run

STUCK = Path(__file__).with_name("stuck")


class Noise(Dataset[tuple[torch.Tensor, int]]):
    """Something to learn by heart."""

    def __len__(self) -> int:
        return 100_000

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return torch.full((256,), (index % 97) / 97), index % 10


def hang() -> None:
    """As a worker in a dead collective: no signal reaches it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    while True:
        time.sleep(1)


def main() -> None:
    """Until it's told to end."""
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024))
    model.append(torch.nn.ReLU()).append(torch.nn.Linear(1024, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    run = Run(model=model, optimizer=optimizer, loader=Loader(Noise(), batch=16), epochs=10_000)
    for inputs, labels in run:
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.02)
        if STUCK.exists():
            hang()


if __name__ == "__main__":
    main()

"""The same made shift-safe: the run counts epochs, saves and ends; the trainer does the rest."""

from collections.abc import Iterator
from typing import Any

import pytorch_lightning as lightning  # ty: ignore[import-not-found]
import torch
from torch.utils.data import Dataset

from nightshift.training import Loader, Run

EPOCHS = 3
BATCH = 64


class Digits(Dataset[tuple[torch.Tensor, int]]):
    """Ten noisy patterns to tell apart."""

    def __len__(self) -> int:
        return 2000

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        pattern = torch.randn(64, generator=torch.Generator().manual_seed(index % 10))
        return pattern + torch.randn(64), index % 10


class Batches:
    """The run's. With a length, even a wrong one, the trainer fetches no batch before its step is done."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def __iter__(self) -> Iterator[Any]:
        return iter(self.run)

    def __len__(self) -> int:
        return 1 << 40


class Classifier(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], _index: int) -> torch.Tensor:
        inputs, labels = batch
        return torch.nn.functional.cross_entropy(self.layers(inputs), labels)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters(), lr=1e-3)

    def train_dataloader(self) -> Batches:
        optimizer = self.optimizers(use_pl_optimizer=False)
        self.shift = Run(model=self, optimizer=optimizer, loader=Loader(Digits(), batch=BATCH), epochs=EPOCHS)
        return Batches(self.shift)


def main() -> None:
    lightning.seed_everything(0)
    trainer = lightning.Trainer(
        max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False
    )
    model = Classifier()
    trainer.fit(model)
    print(f"step {model.shift.step}")


if __name__ == "__main__":
    main()

"""A plain script for a popular trainer: it loses everything when its node goes."""

import pytorch_lightning as lightning  # ty: ignore[import-not-found]
import torch
from torch.utils.data import DataLoader, Dataset

EPOCHS = 3
BATCH = 64


class Digits(Dataset[tuple[torch.Tensor, int]]):
    """Ten noisy patterns to tell apart."""

    def __len__(self) -> int:
        return 2000

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        pattern = torch.randn(64, generator=torch.Generator().manual_seed(index % 10))
        return pattern + torch.randn(64), index % 10


class Classifier(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], _index: int) -> torch.Tensor:
        inputs, labels = batch
        return torch.nn.functional.cross_entropy(self.layers(inputs), labels)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters(), lr=1e-3)

    def train_dataloader(self) -> DataLoader:
        return DataLoader(Digits(), batch_size=BATCH, shuffle=True)


def main() -> None:
    lightning.seed_everything(0)
    trainer = lightning.Trainer(
        max_epochs=EPOCHS, logger=False, enable_checkpointing=False, enable_progress_bar=False
    )
    trainer.fit(Classifier())
    print(f"step {trainer.global_step}")


if __name__ == "__main__":
    main()

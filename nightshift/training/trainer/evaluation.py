"""How good the model is on images that it isn't trained on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.data import DataLoader

from nightshift.training.loader import Samples, Seeded
from nightshift.training.trainer.place import Place, Precision
from nightshift.training.workers import Collate, opened, quiet_worker


@dataclass(frozen=True)
class Scores:
    """Means over all images; `top1` and `top5` are shares."""

    loss: float
    top1: float
    top5: float
    images: int


@dataclass(frozen=True)
class Evaluation:
    """All ranks do a part each, in as many batches each."""

    samples: Samples
    place: Place
    precision: Precision
    batch: int
    workers: int

    def run(self, model: torch.nn.Module, ending: Callable[[], bool]) -> Scores | None:
        """Collective. None when `ending` said before the end that the shift ends."""
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad(), torch.compiler.set_stance("force_eager"):
                return self._scored(model, ending)
        finally:
            model.train(was_training)

    def _scored(self, model: torch.nn.Module, ending: Callable[[], bool]) -> Scores | None:
        sums = torch.zeros(4, dtype=torch.float64, device=self.place.device)
        for batch in self._batches():
            if ending():
                return None
            if batch is not None:
                sums += self._of_batch(model, *batch)
        loss, first, five, images = self.place.sums(sums).tolist()
        return Scores(loss / images, first / images, five / images, int(images))

    def _of_batch(self, model: torch.nn.Module, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        images, labels = images.to(self.place.device), labels.to(self.place.device)
        with self.precision.autocast():
            logits = model(images)
        logits = logits.float()
        loss = torch.nn.functional.cross_entropy(logits, labels, reduction="sum")
        best = logits.topk(min(5, logits.shape[1]), dim=1).indices == labels[:, None]
        return torch.stack(
            [loss, best[:, 0].sum(), best.sum(), torch.tensor(len(labels), device=loss.device)]
        )

    def _batches(self) -> Iterator[Any]:
        """None for a batch that only other ranks still have."""
        own = range(self.place.rank, len(self.samples), self.place.world)
        longest = -(-len(self.samples) // self.place.world)
        rows = [[(0, index) for index in own[at : at + self.batch]] for at in range(0, len(own), self.batch)]
        source = DataLoader(
            Seeded(self.samples, 0),
            batch_sampler=rows,
            num_workers=self.workers,
            collate_fn=Collate(),
            worker_init_fn=quiet_worker if self.workers else None,
            generator=torch.Generator().manual_seed(0),
        )
        yield from opened(source)
        yield from [None] * (-(-longest // self.batch) - len(rows))

"""What the trainer trains on and evaluates with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from nightshift.training.errors import TrainingError
from nightshift.training.images import CentreCrop, RandomCrop
from nightshift.training.loader import Samples
from nightshift.training.order import mixed
from nightshift.training.samples import ImageFolder
from nightshift.training.trainer.flags import SYNTHETIC, Options

BANK = 16  # noise images that made-up ones are made of
LEVELS = 8  # each class adds its own to each of so many stripes
EVALUATED_PER_CLASS = 5


class SyntheticImages:
    """Byte images with a class that shows, made at a copy's cost: the GPU is measured, not the generator."""

    def __init__(self, length: int, *, side: int, classes: int, seed: int) -> None:
        self._length = length
        self._side = side
        self._classes = classes
        self._seed = seed
        self._noise: torch.Tensor | None = None

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        label = mixed(self._seed, index, 1) % self._classes
        noise = self._bank()[mixed(self._seed, index) % BANK]
        return noise + _stripes(label, self._side), label

    def _bank(self) -> torch.Tensor:
        """Made at first use, in each worker: it needn't travel."""
        if self._noise is None:
            source = torch.Generator().manual_seed(self._seed)
            shape = (BANK, self._side, self._side, 3)
            self._noise = torch.randint(0, 128, shape, dtype=torch.uint8, generator=source)
        return self._noise

    def fingerprint(self) -> str:
        return f"made up {self._length} {self._side} {self._classes} {self._seed}"


def _stripes(label: int, side: int) -> torch.Tensor:
    """The class as brightness by row: (side, 1, 1)."""
    levels = [mixed(label, stripe) % 128 for stripe in range(LEVELS)]
    return torch.tensor(levels, dtype=torch.uint8).repeat_interleave(-(-side // LEVELS))[:side].view(-1, 1, 1)


@dataclass(frozen=True)
class Data:
    """`evaluation` None: there is nothing to evaluate with."""

    training: Samples
    evaluation: Samples | None
    classes: int


def find_data(options: Options, side: int) -> Data:
    """TrainingError says how a folder must look."""
    if options.data == SYNTHETIC:
        fewer = min(options.samples, EVALUATED_PER_CLASS * options.classes)
        training, evaluation = (
            SyntheticImages(length, side=side, classes=options.classes, seed=options.seed + shift)
            for length, shift in ((options.samples, 0), (fewer, 1))
        )
        return Data(training, evaluation, options.classes)
    return _folders(Path(options.data), side)


def _folders(root: Path, side: int) -> Data:
    if not (root / "train").is_dir():
        raise TrainingError(
            f"--data: {root} has no folder train; expected train/CLASS/FILE and val/CLASS/FILE, or the word "
            f"{SYNTHETIC}"
        )
    training = ImageFolder(root / "train", RandomCrop(side))
    if not (root / "val").is_dir():
        return Data(training, None, len(training.classes))
    evaluation = ImageFolder(root / "val", CentreCrop(side))
    if evaluation.classes != training.classes:
        odd = sorted(set(evaluation.classes) ^ set(training.classes))
        raise TrainingError(f"--data: {root}: in only one of train and val: {', '.join(odd[:8])}")
    return Data(training, evaluation, len(training.classes))

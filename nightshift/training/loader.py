"""Batches from a position on: each rank its part of every global batch, the same samples in any world."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

from nightshift.training.errors import TrainingError
from nightshift.training.order import Order, mixed
from nightshift.training.values import SEEDS, refuse_wrong, whole
from nightshift.training.workers import Collate, Failure, carried, opened, quiet_worker


class Samples(Protocol):
    """What can be trained on."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


@dataclass(frozen=True)
class Share:
    """How a global batch is divided: `world` ranks, each in `parts` micro-batches of `micro` samples."""

    world: int
    parts: int
    micro: int


def divide(batch: int, world: int, micro_batch: int | None) -> Share:
    """Keep the global batch whatever the world is. TrainingError says which worlds and sizes would do."""
    own, rest = divmod(batch, world)
    if batch < 1 or rest:
        fit = [ranks for ranks in range(1, batch + 1) if batch % ranks == 0]
        raise TrainingError(
            f"batch: {batch} samples can't be shared by {world} ranks; this batch fits {_listed(fit)} ranks"
        )
    if micro_batch is None:
        return Share(world, 1, own)
    if micro_batch < 1:
        raise TrainingError(f"micro_batch: given {micro_batch}, at least 1 sample")
    parts = next(parts for parts in range(1, own + 1) if own % parts == 0 and own // parts <= micro_batch)
    return Share(world, parts, own // parts)


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:12])) + (", ..." if len(numbers) > 12 else "")


class Seeded(Dataset[Any]):
    """Gives each sample random numbers of its own: an augmentation draws by seed, epoch and sample."""

    def __init__(self, samples: Samples, seed: int) -> None:
        self._samples = samples
        self._seed = seed

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, index: tuple[int, int]) -> Any:
        return self._batch([index])[0]

    def __getitems__(self, indices: list[tuple[int, int]]) -> list[Any] | Failure:
        """A batch's, which torch's loader asks for at once."""
        return carried(lambda: self._batch(indices))

    def _batch(self, indices: list[tuple[int, int]]) -> list[Any]:
        apart = torch.utils.data.get_worker_info() is None
        before = _sampling_state() if apart else None
        try:
            return [self._drawn(epoch, sample) for epoch, sample in indices]
        finally:
            if before is not None:
                _restore_sampling(before)

    def _drawn(self, epoch: int, sample: int) -> Any:
        _seed_sample(mixed(self._seed, epoch, sample))
        return self._samples[sample]


def _sampling_state() -> tuple[Any, torch.Tensor, Any]:
    numpy = sys.modules.get("numpy")
    return random.getstate(), torch.get_rng_state(), numpy.random.get_state() if numpy else None


def _restore_sampling(state: tuple[Any, torch.Tensor, Any]) -> None:
    random.setstate(state[0])
    torch.set_rng_state(state[1])
    if state[2] is not None:
        sys.modules["numpy"].random.set_state(state[2])


def _seed_sample(seed: int) -> None:
    random.seed(seed)
    torch.default_generator.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


class Loader:
    """`batch`: samples of one optimizer step over all ranks. `micro_batch`: at most so many at once per rank.

    `workers` processes prepare samples ahead; the position counts what was trained on, not what was prepared.
    """

    def __init__(
        self,
        samples: Samples,
        *,
        batch: int,
        micro_batch: int | None = None,
        seed: int = 0,
        shuffle: bool = True,
        workers: int = 0,
        prefetch: int = 2,
        collate: Callable[[list[Any]], Any] | None = None,
    ) -> None:
        refuse_wrong(
            None if len(samples) else "samples: there are none to train on",
            whole("batch", batch),
            whole("micro_batch", micro_batch, optional=True),
            whole("seed", seed, *SEEDS),
            whole("workers", workers, 0),
            whole("prefetch", prefetch),
        )
        self.samples = samples
        self.batch = int(batch)  # numpy's can't be saved
        self.seed = int(seed)
        self.shuffle = shuffle
        self._micro_batch = micro_batch
        self._workers = workers
        self._prefetch = prefetch
        self._collate = collate

    @property
    def share(self) -> Share:
        """How the batch is divided in this world; the optimizer steps after every `share.parts` batches."""
        return divide(self.batch, _world(), self._micro_batch)

    def steps(self, epochs: float) -> int:
        """Steps that see every sample of so many epochs (the last batch may reach into the next one)."""
        return -(-int(epochs * len(self.samples)) // self.batch)

    def identity(self) -> dict[str, object]:
        """What must be the same for a position to mean the same samples."""
        fingerprint = getattr(self.samples, "fingerprint", None)
        return {
            "samples": len(self.samples),
            "batch": self.batch,
            "seed": self.seed,
            "shuffle": self.shuffle,
            "content": fingerprint() if callable(fingerprint) else None,
        }

    def batches(self, position: int, steps: int) -> Iterator[Any]:
        """This rank's micro-batches of the next `steps` global batches after `position` samples."""
        order = Order(len(self.samples), self.seed, self.shuffle)
        return opened(self._source(_Rows(order, self.share, _rank(), self.batch, position, steps)))

    def _source(self, rows: _Rows) -> DataLoader[Any]:
        return DataLoader(
            Seeded(self.samples, self.seed),
            batch_sampler=rows,
            num_workers=self._workers,
            prefetch_factor=self._prefetch if self._workers else None,
            collate_fn=Collate(self._collate),
            worker_init_fn=quiet_worker if self._workers else None,
            pin_memory=torch.cuda.is_available(),
            generator=torch.Generator().manual_seed(self.seed),
        )


@dataclass(frozen=True)
class _Rows:
    """Lists of (epoch, index), one per micro-batch of one rank, made as they are asked for."""

    order: Order
    share: Share
    rank: int
    batch: int
    position: int
    steps: int

    def __len__(self) -> int:
        return self.steps * self.share.parts

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        micro, parts = self.share.micro, self.share.parts
        for step in range(self.steps):
            first = self.position + step * self.batch + self.rank * parts * micro
            for start in range(first, first + parts * micro, micro):
                yield self.order.between(start, start + micro)


def _world() -> int:
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def _rank() -> int:
    return dist.get_rank() if dist.is_available() and dist.is_initialized() else 0

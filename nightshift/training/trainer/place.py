"""Where a rank runs: its device, its process group, how numbers are kept there."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed as dist

from nightshift.training.errors import TrainingError
from nightshift.training.values import refuse_wrong

T = TypeVar("T")
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
BF16_FROM = (8, 0)  # compute capability with bf16 in hardware; below, torch emulates it slowly
USUAL = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
CUBLAS = "CUBLAS_WORKSPACE_CONFIG"


@dataclass(frozen=True)
class Place:
    """One rank's."""

    device: torch.device
    rank: int = 0
    world: int = 1
    local_rank: int = 0

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def sums(self, values: torch.Tensor) -> torch.Tensor:
        """Collective: over all ranks."""
        if self.world > 1:
            dist.all_reduce(values)
        return values

    def gather(self, value: T) -> list[T]:
        """Collective: every rank's, by rank."""
        values: list[Any] = [value] * self.world
        if self.world > 1:
            dist.all_gather_object(values, value)
        return values


@contextmanager
def entered(timeout_s: float) -> Generator[Place]:
    """The process group that torchrun's environment describes; alone without one."""
    place = _found()
    if "RANK" in os.environ:
        cuda = place.device.type == "cuda"
        dist.init_process_group(
            "nccl" if cuda else "gloo",
            timeout=timedelta(seconds=timeout_s),
            device_id=place.device if cuda else None,
        )
    try:
        yield place
    except Exception:  # the others may wait in a collective: to leave in order could wait for them
        raise
    except BaseException:
        _leave()
        raise
    _leave()


def _leave() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()


def _found() -> Place:
    rank, world, local = _numbers()
    if not torch.cuda.is_available():
        return Place(torch.device("cpu"), rank, world, local)
    if local >= torch.cuda.device_count():
        raise TrainingError(
            f"LOCAL_RANK {local}: this process sees {torch.cuda.device_count()} GPUs; "
            "start as many processes per node as there are"
        )
    device = torch.device("cuda", local)
    torch.cuda.set_device(device)
    return Place(device, rank, world, local)


def _numbers() -> tuple[int, int, int]:
    """TrainingError names all that torchrun wouldn't have set."""
    given = {name: os.environ.get(name, usual) for name, usual in USUAL.items()}
    refuse_wrong(
        *(
            f"{name}: given {text!r}, expected a whole number; start with torchrun, which sets it, "
            "or unset it"
            for name, text in given.items()
            if not (text.isascii() and text.isdigit())
        )
    )
    rank, world, local = map(int, given.values())
    if rank >= world:
        raise TrainingError(f"RANK: given {rank}, expected less than WORLD_SIZE, which is {world}")
    return rank, world, local


def choose(wanted: str, device: str, capability: tuple[int, int] | None) -> str:
    """fp32, bf16 or fp16."""
    if wanted != "auto":
        return wanted
    if device != "cuda" or capability is None:
        return "fp32"
    return "bf16" if capability >= BF16_FROM else "fp16"


@dataclass(frozen=True)
class Precision:
    """How numbers are kept while computing; the weights are fp32 in any."""

    name: str
    device: str

    def autocast(self) -> AbstractContextManager[object]:
        if self.name == "fp32":
            return nullcontext()
        return torch.autocast(self.device, dtype=DTYPES[self.name])

    def scaler(self) -> torch.amp.GradScaler | None:
        """fp16's small gradients would vanish without one."""
        return torch.amp.GradScaler(self.device) if self.name == "fp16" else None


def precision_at(wanted: str, place: Place) -> Precision:
    kind = place.device.type
    capability = torch.cuda.get_device_capability(place.device) if kind == "cuda" else None
    return Precision(choose(wanted, kind, capability), kind)


def settle(*, deterministic: bool) -> None:
    """The process's own switches, before CUDA starts."""
    if not deterministic:
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.benchmark = True
        return
    os.environ.setdefault(CUBLAS, ":4096:8")
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False

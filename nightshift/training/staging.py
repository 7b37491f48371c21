"""The copy of the state that a save is written from. Its memory is kept: only the first copy pays for it."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch.distributed.tensor import DTensor


def assign(sizes: Mapping[str, int], ranks: int) -> dict[str, int]:
    """Who copies and writes what is equal everywhere: the largest first, each to the least loaded rank."""
    load = [0] * ranks
    owner: dict[str, int] = {}
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        owner[name] = min(range(ranks), key=lambda rank: (load[rank], rank))
        load[owner[name]] += sizes[name]
    return owner


def own_share(
    tensors: Mapping[str, torch.Tensor], shareable: frozenset[str], rank: int, ranks: int
) -> dict[str, torch.Tensor]:
    """What this rank saves: its part of the equal ones, its shard of the sharded ones, the rest on rank 0."""
    sharded = {name for name, tensor in tensors.items() if isinstance(tensor, DTensor)}
    sizes = {name: tensors[name].nbytes for name in shareable - sharded if name in tensors}
    owner = assign(sizes, ranks)
    return {name: tensor for name, tensor in tensors.items() if name in sharded or owner.get(name, 0) == rank}


class Staging:
    """Buffers in CPU memory, pinned where the state lives on a GPU."""

    def __init__(self) -> None:
        self._buffers: dict[str, torch.Tensor] = {}

    def copy(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """A copy that training can't change any more. Valid until the next call."""
        local = {name: _local(tensor) for name, tensor in tensors.items()}
        self._buffers = {name: self._buffer(name, tensor) for name, tensor in local.items()}
        for name, tensor in local.items():
            self._buffers[name].copy_(tensor, non_blocking=tensor.is_cuda)
        if any(tensor.is_cuda for tensor in local.values()):
            torch.cuda.current_stream().synchronize()
        return {name: _like(tensors[name], buffer) for name, buffer in self._buffers.items()}

    def _buffer(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        held = self._buffers.get(name)
        if held is not None and held.shape == tensor.shape and held.dtype == tensor.dtype:
            return held
        return torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu", pin_memory=tensor.is_cuda)


def _local(tensor: torch.Tensor) -> torch.Tensor:
    """What lies on this rank."""
    detached = tensor.detach()
    return detached.to_local() if isinstance(detached, DTensor) else detached


def _like(tensor: torch.Tensor, buffer: torch.Tensor) -> torch.Tensor:
    """The buffer in the place of this rank's shard, on the CPU whatever the mesh is made of."""
    shell = tensor.detach()
    if not isinstance(shell, DTensor):
        return buffer
    shell._local_tensor = buffer
    return shell

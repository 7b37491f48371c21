"""Which samples come when: one endless row, epoch after epoch, each shuffled anew. A position counts in it.

Whoever knows the position knows what was seen and what comes, whatever the world was before.
A global batch may straddle two epochs, so that all batches are of one size and each sample comes exactly
once an epoch. The shuffle is plain integer arithmetic: the same on every machine and version of torch.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

_MASK = (1 << 64) - 1


def mixed(*words: int) -> int:
    """A well spread number below 2**63 from some integers (splitmix64 over each)."""
    state = 0
    for word in words:
        state = (state + word + 0x9E3779B97F4A7C15) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state >> 1


def permutation(length: int, seed: int) -> torch.Tensor:
    """0..length-1 in an order that depends on nothing but `seed`."""
    keys = torch.arange(length, dtype=torch.int64) * _signed(0x9E3779B97F4A7C15) + _signed(mixed(seed))
    keys = (keys ^ _right(keys, 30)) * _signed(0xBF58476D1CE4E5B9)
    keys = (keys ^ _right(keys, 27)) * _signed(0x94D049BB133111EB)
    return torch.argsort(keys ^ _right(keys, 31), stable=True)


def _signed(word: int) -> int:
    return word - (1 << 64) if word >= 1 << 63 else word


def _right(keys: torch.Tensor, by: int) -> torch.Tensor:
    """A shift that fills with zeros; torch's own fills with the sign."""
    return (keys >> by) & ((1 << (64 - by)) - 1)


@dataclass
class Order:
    """`length` samples in all."""

    length: int
    seed: int
    shuffle: bool
    _epoch: int = field(default=-1, repr=False)
    _row: torch.Tensor = field(default_factory=lambda: torch.empty(0), repr=False)

    def between(self, start: int, stop: int) -> list[tuple[int, int]]:
        """(epoch, index) of the samples at positions start..stop-1."""
        found: list[tuple[int, int]] = []
        while start < stop:
            epoch, first = divmod(start, self.length)
            last = min(self.length, first + stop - start)
            found += [(epoch, index) for index in self._of(epoch)[first:last].tolist()]
            start += last - first
        return found

    def _of(self, epoch: int) -> torch.Tensor:
        if epoch != self._epoch:
            self._row = self._shuffled(epoch)
            self._epoch = epoch
        return self._row

    def _shuffled(self, epoch: int) -> torch.Tensor:
        if not self.shuffle:
            return torch.arange(self.length)
        return permutation(self.length, mixed(self.seed, epoch))

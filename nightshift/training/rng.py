"""The state of every random generator of this process, as plain values that a safe load accepts."""

from __future__ import annotations

import hashlib
import importlib
import random
import sys
from collections.abc import Mapping
from typing import Any

import torch

Plain = dict[str, Any]


def capture() -> Plain:
    """Python, torch, this rank's CUDA device when it is in use, numpy when somebody imported it."""
    version, words, spare = random.getstate()
    state: Plain = {"python": [version, list(words), spare], "torch": torch.get_rng_state()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state()
    if "numpy" in sys.modules:
        kind, keys, position, has_spare, spare_normal = sys.modules["numpy"].random.get_state(legacy=True)
        state["numpy"] = [str(kind), keys.tolist(), int(position), int(has_spare), float(spare_normal)]
    return state


def restore(state: Mapping[str, Any]) -> None:
    """Put every generator of `state` back; ones that this process doesn't have are left out."""
    version, words, spare = state["python"]
    random.setstate((version, tuple(words), spare))
    torch.set_rng_state(state["torch"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])
    if "numpy" in state:
        numpy = importlib.import_module("numpy")
        kind, keys, position, has_spare, spare_normal = state["numpy"]
        numpy.random.set_state(
            (kind, numpy.array(keys, dtype=numpy.uint32), position, has_spare, spare_normal)
        )


def seed_all(seed: int) -> None:
    """Seed python, torch (every device) and, if it is loaded, numpy."""
    random.seed(seed)
    torch.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def restore_rank(states: Mapping[int, Mapping[str, Any]], rank: int) -> None:
    """This rank's own state; a rank that the saved world didn't have starts from one derived of rank 0's."""
    if rank in states:
        restore(states[rank])
        return
    first = states[min(states)]["torch"]
    digest = hashlib.sha256(bytes(first.tolist()) + f"rank {rank}".encode()).digest()
    seed_all(int.from_bytes(digest[:7], "big"))

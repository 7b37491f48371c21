"""What torch 2.6 does wrong and later ones don't."""

from __future__ import annotations

from typing import Any

import torch.distributed as dist
from torch.distributed.checkpoint.utils import _DistWrapper


def speak_to_the_first_of_the_group() -> None:
    """Let a save by a part of the world work: 2.6 takes the group's rank 0 for the world's and refuses.

    Later versions keep the two apart under the name looked for here; for them this does nothing.
    """
    start = _DistWrapper.__init__
    if "global_coordinator_rank" in start.__code__.co_names or start.__module__ == __name__:
        return

    def mended(self: Any, group: dist.ProcessGroup | None, use_dist: bool, coordinator_rank: int) -> None:
        start(self, group, use_dist, coordinator_rank)
        if use_dist and group is not None:
            self.coordinator_rank = dist.get_global_rank(group, coordinator_rank)

    _DistWrapper.__init__ = mended

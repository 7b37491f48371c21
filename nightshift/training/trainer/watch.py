"""The loss, watched without making the GPU wait."""

from __future__ import annotations

import torch

from nightshift.training.errors import TrainingError


class LossWatch:
    """Each step's loss comes over to the CPU while the next step runs, and is looked at then."""

    def __init__(self) -> None:
        self._coming: tuple[int, torch.Tensor, torch.cuda.Event | None] | None = None
        self._sum = 0.0
        self._count = 0

    def add(self, step: int, loss: torch.Tensor) -> None:
        """TrainingError when the step before had no finite loss."""
        self.settle()
        host = loss.detach().to("cpu", non_blocking=True) if loss.is_cuda else loss.detach()
        event = None
        if loss.is_cuda:
            event = torch.cuda.Event()
            event.record()
        self._coming = (step, host, event)

    def settle(self) -> None:
        """Wait for the last step's loss. TrainingError when it isn't finite."""
        if self._coming is None:
            return
        step, host, event = self._coming
        self._coming = None
        if event:
            event.synchronize()
        loss = host.item()
        if loss - loss != 0.0:
            raise TrainingError(not_finite(step, loss))
        self._sum += loss
        self._count += 1

    def take(self) -> tuple[float, int]:
        """The sum of the losses since the last call, and how many; one on its way is left for the next."""
        found = self._sum, self._count
        self._sum, self._count = 0.0, 0
        return found


def not_finite(step: int, loss: float) -> str:
    return (
        f"step {step}: the loss is {loss}; training stops and nothing of this step is saved. The checkpoints "
        "before it stand. Raise --warmup-steps, keep --clip at 1, or give --precision bf16 or fp32; launched "
        "again unchanged it may come here again. Lower --lr in another --folder only: a run keeps its own"
    )

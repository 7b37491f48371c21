"""How much arithmetic an image costs."""

from __future__ import annotations

import torch
from torch.utils.flop_counter import FlopCounterMode

from nightshift.training.trainer import models


def training_flops(name: str, *, side: int, classes: int) -> int:
    """Floating-point operations for one image, forward and backward, counted by torch on shapes alone.

    What --recompute does twice counts once: utilisation is of useful work.
    """
    with torch.device("meta"):
        model = models.build(name, side=side, classes=classes)
        images = torch.zeros(1, side, side, 3, dtype=torch.uint8)
    with FlopCounterMode(display=False) as counter:
        model(images).sum().backward()
    return counter.get_total_flops()


def utilisation(images_per_s: float, flops: int, gpus: int, peak_tflops: float | None) -> float | None:
    """Share of the peak (MFU): useful operations by what `gpus` could do. None without a peak."""
    return None if peak_tflops is None else images_per_s * flops / (gpus * peak_tflops * 1e12)

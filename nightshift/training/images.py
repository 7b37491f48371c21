"""Photos as training wants them: decoded, cropped and resized to bytes; the model makes numbers of them.

A sample is a uint8 tensor of (side, side, 3): a quarter of what floats would take on the way to a GPU.
"""

from __future__ import annotations

import io
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from PIL import Image

from nightshift.training.errors import TrainingError

AREA = (0.08, 1.0)  # of the photo that a random crop takes, and its width by height: Szegedy 2014
ASPECT = (3 / 4, 4 / 3)
TRIES = 10
SHRINK = 256 / 224  # a photo's shorter side by the crop's side, when evaluating
Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class RandomCrop:
    """A random part of the photo, mirrored half of the time. Draws from `random` alone."""

    side: int = 224

    def __call__(self, path: Path) -> torch.Tensor:
        pixels = cut(path, random_box, self.side)
        return pixels.flip(1) if random.random() < 0.5 else pixels


@dataclass(frozen=True)
class CentreCrop:
    """The middle of the photo, a little less than its shorter side: for evaluation."""

    side: int = 224

    def __call__(self, path: Path) -> torch.Tensor:
        return cut(path, centre_box, self.side)


def random_box(width: int, height: int) -> Box:
    """Left, top, right, bottom. A photo too long for any try gives its middle."""
    for _ in range(TRIES):
        area = width * height * random.uniform(*AREA)
        aspect = math.exp(random.uniform(math.log(ASPECT[0]), math.log(ASPECT[1])))
        wide, high = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < wide <= width and 0 < high <= height:
            left, top = random.randint(0, width - wide), random.randint(0, height - high)
            return left, top, left + wide, top + high
    wide = min(width, max(1, round(height * ASPECT[1])))
    high = min(height, max(1, round(width / ASPECT[0])))
    return _middle(width, height, wide, high)


def centre_box(width: int, height: int) -> Box:
    """A square."""
    side = max(1, round(min(width, height) / SHRINK))
    return _middle(width, height, side, side)


def _middle(width: int, height: int, wide: int, high: int) -> Box:
    left, top = (width - wide) // 2, (height - high) // 2
    return left, top, left + wide, top + high


def cut(path: Path, place: Callable[[int, int], Box], side: int) -> torch.Tensor:
    """The part of a photo that `place` says for its size, resized to (side, side, 3) bytes.

    A JPEG of which twice as many pixels are there as wanted is decoded at half, a quarter or an eighth of its
    size at once, which is what costs in a big photo. TrainingError for what is no image.
    """
    try:
        part = _decoded(path.read_bytes(), place, side)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise TrainingError(
            f"{path}: can't be read as an image ({error}); replace or remove the file"
        ) from error
    raw = torch.frombuffer(bytearray(part.tobytes()), dtype=torch.uint8)
    pixels = raw.view(1, part.height, part.width, 3).permute(0, 3, 1, 2)
    resized = torch.nn.functional.interpolate(pixels, (side, side), mode="bilinear", antialias=True)
    return resized[0].permute(1, 2, 0).contiguous()


def _decoded(data: bytes, place: Callable[[int, int], Box], side: int) -> Image.Image:
    with Image.open(io.BytesIO(data)) as image:
        full, high = image.size
        box = place(full, high)
        wanted = (side / (box[2] - box[0]), side / (box[3] - box[1]))
        image.draft("RGB", (math.ceil(full * wanted[0]), math.ceil(high * wanted[1])))
        box = _scaled(box, image.width / full, image.width, image.height)
        # Converting would copy all of it.
        return (image if image.mode == "RGB" else image.convert("RGB")).crop(box)


def _scaled(box: Box, scale: float, width: int, height: int) -> Box:
    left, top, right, bottom = (round(edge * scale) for edge in box)
    return left, top, min(width, max(right, left + 1)), min(height, max(bottom, top + 1))

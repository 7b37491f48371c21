"""Photos as training wants them: decoded, cropped and resized to bytes; the model makes numbers of them.

A sample is a uint8 tensor of (side, side, 3): a quarter of what floats would take on the way to a GPU.
"""

from __future__ import annotations

import io
import math
import random
from dataclasses import dataclass
from pathlib import Path

import torch
from PIL import Image
from torchvision.transforms.v2 import functional

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
        photo = Photo.read(path)
        pixels = photo.cut(random_box(photo.width, photo.height), self.side)
        return pixels.flip(1) if random.random() < 0.5 else pixels


@dataclass(frozen=True)
class CentreCrop:
    """The middle of the photo, a little less than its shorter side: for evaluation."""

    side: int = 224

    def __call__(self, path: Path) -> torch.Tensor:
        photo = Photo.read(path)
        return photo.cut(centre_box(photo.width, photo.height), self.side)


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


@dataclass(frozen=True)
class Photo:
    """A file's bytes, and the size that its header tells."""

    path: Path
    data: bytes
    width: int
    height: int

    @staticmethod
    def read(path: Path) -> Photo:
        """TrainingError for what is no image."""
        data = path.read_bytes()
        try:
            with Image.open(io.BytesIO(data)) as header:
                return Photo(path, data, *header.size)
        except (OSError, ValueError, Image.DecompressionBombError) as error:
            raise _unreadable(path, error) from error

    def cut(self, box: Box, side: int) -> torch.Tensor:
        """The part in `box`, resized to (side, side, 3) bytes.

        A JPEG of which twice as many pixels are there as wanted is decoded at half, a quarter or an eighth of
        its size at once, which is what costs in a big photo.
        """
        try:
            part = self._decoded(box, side)
        except (OSError, ValueError) as error:
            raise _unreadable(self.path, error) from error
        raw = torch.frombuffer(bytearray(part.tobytes()), dtype=torch.uint8)
        pixels = raw.view(part.height, part.width, 3).permute(2, 0, 1)
        return functional.resize(pixels, [side, side], antialias=True).permute(1, 2, 0).contiguous()

    def _decoded(self, box: Box, side: int) -> Image.Image:
        wide, high = box[2] - box[0], box[3] - box[1]
        with Image.open(io.BytesIO(self.data)) as image:
            image.draft("RGB", (math.ceil(self.width * side / wide), math.ceil(self.height * side / high)))
            box = _scaled(box, image.width / self.width, image.width, image.height)
            if image.mode == "RGB":  # converting would copy all of it
                return image.crop(box)
            return image.convert("RGB").crop(box)


def _scaled(box: Box, scale: float, width: int, height: int) -> Box:
    left, top, right, bottom = (round(edge * scale) for edge in box)
    return left, top, min(width, max(right, left + 1)), min(height, max(bottom, top + 1))


def _unreadable(path: Path, error: Exception) -> TrainingError:
    return TrainingError(f"{path}: can't be read as an image ({error}); replace or remove the file")

"""Images per second and core: this project's loader beside a loop over Pillow and torchvision's ImageFolder.

The same made photos and the same transforms (random resized crop to 224, mirror, normalised floats in
batches), one thread, no worker processes, rounds interleaved, the best round of each counts. JSON on stdout,
a table on stderr. Exit 1 when a ratio is under its bound.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
import torchvision
from PIL import Image
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder as TorchvisionFolder
from torchvision.transforms import v2
from torchvision.transforms.functional import normalize, to_tensor

from nightshift.training import ImageFolder, Loader
from nightshift.training.images import RandomCrop, random_box
from nightshift.training.trainer.models import DEVIATION, MEAN

SIDE = 224
BATCH = 32
BOUNDS = {"Pillow loop": 1.2, "ImageFolder": 1.2, "ImageFolder, v2 on bytes": 1.0}
KINDS = {"500x375": (500, 375), "2000x1500": (2000, 1500)}


def photo(width: int, height: int, number: int) -> Image.Image:
    """Shapes, texture and grain, so that it compresses as a photo does: about 60 kB at 500x375."""
    source = torch.Generator().manual_seed(number)
    layers = []
    for cell, weight in ((60, 0.75), (8, 0.2)):
        grid = torch.rand(1, 3, height // cell + 2, width // cell + 2, generator=source)
        layers.append(weight * torch.nn.functional.interpolate(grid, size=(height, width), mode="bilinear"))
    grain = 0.05 * torch.rand(1, 3, height, width, generator=source)
    pixels = (255 * (sum(layers) + grain)).clamp(0, 255).to(torch.uint8)[0].permute(1, 2, 0).contiguous()
    return Image.frombytes("RGB", (width, height), pixels.numpy().tobytes())


def made(root: Path, kind: str, count: int) -> Path:
    folder = root / kind
    for number in range(count):
        place = folder / f"class{number % 4}"
        place.mkdir(parents=True, exist_ok=True)
        photo(*KINDS[kind], number).save(place / f"{number}.jpg", quality=90)
    return folder


def pillow(root: Path) -> Iterator[torch.Tensor]:
    """What a script without any of these libraries' loaders would do."""
    paths = sorted(root.rglob("*.jpg"))
    for first in range(0, len(paths), BATCH):
        images = []
        for path in paths[first : first + BATCH]:
            image = Image.open(path).convert("RGB")
            box = random_box(image.width, image.height)
            image = image.crop(box).resize((SIDE, SIDE), Image.Resampling.BILINEAR)
            if random.random() < 0.5:
                image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
            images.append(normalize(to_tensor(image), list(MEAN), list(DEVIATION)))
        yield torch.stack(images)


def torchvision_way(root: Path, transform: Callable[[object], object]) -> Iterator[torch.Tensor]:
    loader = DataLoader(TorchvisionFolder(str(root), transform), batch_size=BATCH, shuffle=True)
    return (images for images, _ in loader)


USUAL = torchvision.transforms.Compose(
    [
        torchvision.transforms.RandomResizedCrop(SIDE),
        torchvision.transforms.RandomHorizontalFlip(),
        torchvision.transforms.ToTensor(),
        torchvision.transforms.Normalize(MEAN, DEVIATION),
    ]
)
ON_BYTES = v2.Compose(
    [
        v2.PILToTensor(),
        v2.RandomResizedCrop(SIDE, antialias=True),
        v2.RandomHorizontalFlip(),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize(list(MEAN), list(DEVIATION)),
    ]
)


def ours(root: Path) -> Iterator[torch.Tensor]:
    """With the arithmetic that the model does on its device, so that what comes out is the same."""
    scale = 1 / (255 * torch.tensor(DEVIATION).view(3, 1, 1))
    shift = -torch.tensor(MEAN).view(3, 1, 1) / torch.tensor(DEVIATION).view(3, 1, 1)
    samples = ImageFolder(root, RandomCrop(SIDE))
    loader = Loader(samples, batch=BATCH)
    for images, _ in loader.batches(0, len(samples) // BATCH):
        yield (images.permute(0, 3, 1, 2) * scale).add_(shift)


WAYS: dict[str, Callable[[Path], Iterator[torch.Tensor]]] = {
    "Pillow loop": pillow,
    "ImageFolder": lambda root: torchvision_way(root, USUAL),
    "ImageFolder, v2 on bytes": lambda root: torchvision_way(root, ON_BYTES),
    "ours": ours,
}


def rate(way: Callable[[Path], Iterator[torch.Tensor]], root: Path) -> float:
    """Images by second of this core: other processes' time doesn't count."""
    began, count = time.process_time(), 0
    for images in way(root):
        if images.dtype != torch.float32 or images.shape[1:] != (3, SIDE, SIDE):
            raise SystemExit(f"not what was asked for: {images.dtype} {tuple(images.shape)}")
        count += len(images)
    return count / (time.process_time() - began)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--images", type=int, default=128)
    parser.add_argument("--folder", type=Path, default=None, help="on the disk to read from")
    options = parser.parse_args()
    torch.set_num_threads(1)
    results, slow = [], False
    with tempfile.TemporaryDirectory(dir=options.folder) as base:
        for kind in KINDS:
            root = made(Path(base), kind, options.images)
            taken: dict[str, list[float]] = {name: [] for name in WAYS}
            for _ in range(options.rounds):
                for name, way in WAYS.items():
                    taken[name].append(rate(way, root))
            best = {name: max(rates) for name, rates in taken.items()}
            ratios = {name: best["ours"] / best[name] for name in BOUNDS}
            slow |= any(ratios[name] < bound for name, bound in BOUNDS.items())
            results.append({"photos": kind, "images_per_s_and_core": best, "ratios": ratios})
    print(
        json.dumps(
            {
                "what": "loader",
                "torch": torch.__version__,
                "torchvision": torchvision.__version__,
                "load_average": os.getloadavg()[0],
                "bounds": BOUNDS,
                "results": results,
            }
        )
    )
    for one in results:
        for name, speed in one["images_per_s_and_core"].items():
            print(f"{one['photos']:10} {name:26} {speed:7.1f} images/s and core", file=sys.stderr)
        for name, ratio in one["ratios"].items():
            print(
                f"{one['photos']:10} ours / {name:19} {ratio:7.2f}  (bound {BOUNDS[name]})", file=sys.stderr
            )
    return int(slow)


if __name__ == "__main__":
    raise SystemExit(main())

"""Data that needs no download, and data in folders: one folder per class, as ImageNet comes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from nightshift.training.errors import TrainingError
from nightshift.training.order import mixed

IMAGES = (".jpg", ".jpeg", ".png", ".webp")


class Synthetic:
    """`length` images of noise, each with a class that can be learnt from it. The same on every machine."""

    def __init__(self, length: int, *, side: int = 224, classes: int = 1000, seed: int = 0) -> None:
        self._length = length
        self._shape = (3, side, side)
        self._classes = classes
        self._seed = seed

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        if not 0 <= index < self._length:
            raise IndexError(index)
        source = torch.Generator().manual_seed(mixed(self._seed, index))
        label = mixed(self._seed, index, 1) % self._classes
        image = torch.randn(self._shape, generator=source)
        image[label % 3] += label / self._classes - 0.5
        return image, label

    def fingerprint(self) -> str:
        return f"synthetic {self._length} {self._shape} {self._classes} {self._seed}"


class ImageFolder:
    """root/CLASS/**/FILE, classes and files in sorted order. `read` makes a sample of a path.

    Paths lie in one block of bytes: a list of a million strings would be copied by every worker process.
    """

    def __init__(self, root: Path, read: Callable[[Path], Any], *, endings: tuple[str, ...] = IMAGES) -> None:
        self.root = root
        self.classes = _classes(root)
        self._read = read
        rows = [
            (label, name)
            for label, folder in enumerate(self.classes)
            for name in sorted(_files(os.fsencode(root), os.fsencode(folder), _bytes(endings)))
        ]
        empty = sorted(set(range(len(self.classes))) - {label for label, _ in rows})
        if empty:
            named = ", ".join(self.classes[label] for label in empty[:8])
            raise TrainingError(f"{root}: no file that ends in {', '.join(endings)} in {named}")
        names = [name for _, name in rows]
        self._labels = torch.tensor([label for label, _ in rows], dtype=torch.int32)
        self._ends = torch.tensor([0, *map(len, names)], dtype=torch.int64).cumsum(0)
        self._names = b"".join(names)

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        return self._read(self.path(index)), int(self._labels[index])

    def path(self, index: int) -> Path:
        """IndexError past the end."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        start, stop = self._ends[index : index + 2].tolist()
        return self.root / os.fsdecode(self._names[start:stop])

    def fingerprint(self) -> str:
        """Of the names, not of the pixels."""
        return hashlib.sha256(self._names + bytes(str(self._ends[-1].item()), "ascii")).hexdigest()[:16]


def _classes(root: Path) -> list[str]:
    try:
        found = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
    except OSError as error:
        raise TrainingError(f"{root}: {error.strerror}; expected one folder per class in it") from error
    if not found:
        raise TrainingError(f"{root}: expected one folder per class in it, there is none")
    return found


def _files(root: bytes, folder: bytes, endings: tuple[bytes, ...]) -> Iterator[bytes]:
    """Names below `root`. Of a million, so no path objects."""
    name = folder
    try:
        with os.scandir(root + b"/" + folder) as entries:
            for entry in entries:
                name = folder + b"/" + entry.name
                if entry.is_dir():
                    yield from _files(root, name, endings)
                elif entry.name.lower().endswith(endings):
                    yield name
    except OSError as error:
        raise TrainingError(
            f"{os.fsdecode(root + b'/' + name)}: {error.strerror}; expected files and folders that can be "
            "read; remove it or mend it"
        ) from error


def _bytes(words: tuple[str, ...]) -> tuple[bytes, ...]:
    return tuple(map(os.fsencode, words))

"""Reading a checkpoint without running what it contains."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import IO, Any

import torch
from torch.distributed.checkpoint import FileSystemReader
from torch.distributed.checkpoint.metadata import Metadata, StorageMeta, TensorStorageMetadata

METADATA = ".metadata"
_MODULES = frozenset({"torch.distributed.checkpoint.metadata", "torch.distributed.checkpoint.filesystem"})
_NAMES = frozenset(
    {
        ("torch", "Size"),
        ("torch.serialization", "_get_layout"),
        ("collections", "OrderedDict"),
        ("pathlib", "PosixPath"),
        ("pathlib._local", "PosixPath"),
    }
)


class _Restricted(pickle.Unpickler):
    """The index is a pickle: only the classes that torch writes into it, and its own dtypes."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch" and isinstance(found := getattr(torch, name, None), torch.dtype):
            return found
        plain_class = module in _MODULES and "." not in name
        if plain_class or (module, name) in _NAMES:
            found = super().find_class(module, name)
            if isinstance(found, type) or (module, name) in _NAMES:
                return found
        raise pickle.UnpicklingError(f"{METADATA}: {module}.{name} has no place in a checkpoint's index")


class SafeReader(FileSystemReader):
    """torch's reader of a folder: tensors by weights-only loads, the index by an unpickler as strict."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._folder = path

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        with (self._folder / METADATA).open("rb") as stream:
            metadata = _load(stream)
        meta = getattr(metadata, "storage_meta", None) or StorageMeta()
        meta.load_id = self.load_id
        metadata.storage_meta = meta
        return metadata


def _load(stream: IO[bytes]) -> Metadata:
    found = _Restricted(stream).load()
    if not isinstance(found, Metadata):
        raise pickle.UnpicklingError(f"{METADATA}: {type(found).__name__} instead of an index")
    return found


def shapes(reader: SafeReader) -> dict[str, tuple[int, ...]]:
    """The saved tensors by name."""
    entries = reader.read_metadata().state_dict_metadata
    return {name: tuple(one.size) for name, one in entries.items() if isinstance(one, TensorStorageMetadata)}

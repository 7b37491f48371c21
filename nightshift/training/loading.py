"""Choosing and loading a checkpoint, by all ranks, whatever the world was that wrote it."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.metadata import TensorStorageMetadata
from torch.distributed.tensor import DTensor

from nightshift.training import manifest, rng
from nightshift.training.errors import TrainingError
from nightshift.training.folder import Folder, Found, name_of
from nightshift.training.journal import Journal
from nightshift.training.ranks import Ranks, attempt
from nightshift.training.reader import SafeReader
from nightshift.training.state import Tensors, TrainingState, differences
from nightshift.training.writing import decode

_ALONE = {"no_dist": True} if "no_dist" in inspect.signature(dcp.load).parameters else {}
NAMED_AT_MOST = 8


@dataclass(frozen=True)
class Loaded:
    """What was resumed from. `extra` is what the run gave to the save."""

    step: int
    position: int
    name: str
    extra: Mapping[str, Any]


def load_newest(
    folder: Folder,
    ranks: Ranks,
    state: TrainingState,
    journal: Journal,
    pull: Callable[[Path], str | None] | None = None,
) -> Loaded | None:
    """Collective. TrainingError on every rank when checkpoints exist but none can be used."""
    found, step, broken = _found(folder, ranks)
    if step < 0 and pull and _pulled(folder, ranks, pull, journal):
        found, step, broken = _found(folder, ranks)
    if step < 0:
        _refuse_if(broken, folder)
        return None
    _set_aside(folder, found, step, journal)
    holders = _holders(ranks, found.step == step)
    tensors, plain = _read(folder.root / name_of(step), ranks, state, holders)
    state.restore(tensors, plain)
    rng.restore_rank(plain["rng"], ranks.control.rank)
    return Loaded(plain["step"], plain["position"], name_of(step), plain["extra"])


def _found(folder: Folder, ranks: Ranks) -> tuple[Found, int, list[str]]:
    """What is here, the newest step anywhere (-1: none), and what is broken or unreadable anywhere."""
    found = folder.find() if ranks.team.leads else Found(None, ())
    said = ranks.control.gather(
        (found.step, [(path.name, why) for path, why in (*found.broken, *found.unknown)])
    )
    broken = [f"{name}: {why}" for _, parts in said for name, why in parts]
    return found, max(one for one, _ in said), broken


def _pulled(folder: Folder, ranks: Ranks, pull: Callable[[Path], str | None], journal: Journal) -> bool:
    """Whether the first rank's volume has got a copy. TrainingError on all when that can't be known."""
    name, wrong = attempt(lambda: pull(folder.root)) if ranks.control.leads else (None, None)
    name, wrong = ranks.control.gather((name, wrong))[0]
    if wrong:
        raise TrainingError(f"{folder.root} has no whole checkpoint, and the mirror can't be read: {wrong}")
    if name:
        journal.note("pulled", checkpoint=name)
    return name is not None


def _refuse_if(broken: list[str], folder: Folder) -> None:
    if broken:
        raise TrainingError(
            f"{folder.root}: none of its checkpoints is whole; "
            "restore the folder, or move it away to start anew",
            *broken[:NAMED_AT_MOST],
        )


def _set_aside(folder: Folder, found: Found, step: int, journal: Journal) -> None:
    for path, why in found.broken:
        journal.note("broken-checkpoint", checkpoint=path.name, reason=why, resumed_from=step)
        folder.set_aside(path)
    for path, why in found.unknown:
        journal.note("unreadable-checkpoint", checkpoint=path.name, reason=why, resumed_from=step)


def _holders(ranks: Ranks, mine: bool) -> frozenset[int]:
    """World ranks whose team has the chosen checkpoint on its disk."""
    leads = ranks.control.gather((ranks.node, ranks.team.leads and mine))
    having = {node for node, has in leads if has}
    return frozenset(rank for rank, (node, _) in enumerate(leads) if ranks.shared or node in having)


def _read(
    path: Path, ranks: Ranks, state: TrainingState, holders: frozenset[int]
) -> tuple[Tensors, dict[str, Any]]:
    tensors = dict(state.capture().tensors)
    holds = ranks.control.rank in holders
    plain, wrong = attempt(lambda: _read_here(path, ranks, tensors) if holds else None)
    problems = sorted({says for says in ranks.control.gather(wrong) if says})
    if problems:
        raise TrainingError(f"{path}: it is whole, but can't be loaded", *problems)
    if len(holders) < ranks.control.size:
        plain = _spread(tensors, plain, ranks, min(holders))
    return tensors, plain or {}


def _read_here(path: Path, ranks: Ranks, tensors: Tensors) -> dict[str, Any]:
    reader = SafeReader(path)
    saved = {
        name: one
        for name, one in reader.read_metadata().state_dict_metadata.items()
        if isinstance(one, TensorStorageMetadata)
    }
    for name, one in saved.items():  # a part may make its tensors only when it loads them
        if name.startswith("parts.") and name not in tensors:
            tensors[name] = torch.empty(one.size, dtype=one.properties.dtype)
    wrong = differences(
        {name: tuple(one.size) for name, one in saved.items()},
        {name: tuple(tensor.shape) for name, tensor in tensors.items()},
    )
    if wrong:
        more = f" (and {len(wrong) - NAMED_AT_MOST} more)" if len(wrong) > NAMED_AT_MOST else ""
        raise ValueError(
            f"it was saved from another model or optimizer: {'; '.join(wrong[:NAMED_AT_MOST])}{more}"
        )
    group = ranks.team.group
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.load(tensors, storage_reader=reader, process_group=group, **({} if group else _ALONE))
    return decode((path / manifest.EXTRA).read_bytes())


def _spread(
    tensors: Tensors, plain: dict[str, Any] | None, ranks: Ranks, source: int
) -> dict[str, Any] | None:
    """Give the nodes that don't have it what rank `source` has loaded."""
    group = ranks.control.group
    if any(isinstance(tensor, DTensor) for tensor in tensors.values()):
        raise TrainingError("a sharded state needs one checkpoint folder that every node sees")
    box = [plain]
    dist.broadcast_object_list(box, src=source, group=group)
    for name in sorted(tensors):
        here = tensors[name].detach().to("cpu", copy=True)
        dist.broadcast(here, src=source, group=group)
        tensors[name].detach().copy_(here)
    return box[0]

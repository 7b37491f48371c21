"""Writing one checkpoint: what the background thread of each rank does, together with its team's."""

from __future__ import annotations

import inspect
import io
import os
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint import FileSystemWriter

from nightshift.training import manifest
from nightshift.training.errors import SaveError
from nightshift.training.files import remove_tree, sync_file, write_synced
from nightshift.training.folder import Folder
from nightshift.training.manifest import EXTRA, Entry, Manifest
from nightshift.training.ranks import Team

SPARE_BYTES = 16 << 20  # room for the index, the manifest and the folder's own blocks
_ALONE = {"no_dist": True} if "no_dist" in inspect.signature(dcp.save).parameters else {}


@dataclass(frozen=True)
class Parcel:
    """One rank's part of a save. `plain` counts on the team's first rank, `rng` (by world rank) on all."""

    step: int
    position: int
    tensors: Mapping[str, torch.Tensor]
    plain: Mapping[str, Any]
    rng: Mapping[int, Any]
    about: Mapping[str, object]

    @property
    def size(self) -> int:
        return sum(tensor.nbytes for tensor in self.tensors.values())


def write(folder: Folder, team: Team, parcel: Parcel) -> Path | None:
    """The committed checkpoint (on the team's first rank). SaveError on all, and no trace, if any failed."""
    draft = folder.draft(parcel.step)
    try:
        crew = team.gather((parcel.size, dict(parcel.rng)))
        team.agreed(lambda: _make_room(folder, team, draft, sum(size for size, _ in crew)))
        team.agreed(lambda: _save_tensors(draft, team, parcel))
        entries = _merged(team.gather(team.agreed(lambda: _synced_share(draft, team))))
        rng = {rank: state for _, states in crew for rank, state in states.items()}
        return team.agreed(lambda: _finish(folder, team, draft, parcel, rng, entries))
    except SaveError:
        if team.leads:
            remove_tree(draft)
        raise


def _make_room(folder: Folder, team: Team, draft: Path, needed: int) -> None:
    if not team.leads:
        return
    remove_tree(draft)
    free = _free_bytes(folder.root)
    if free < needed + SPARE_BYTES:
        raise SaveError(
            f"{folder.root}: {needed / 1e6:.0f} MB to write, {free / 1e6:.0f} MB free; "
            "grow the volume or keep fewer"
        )
    draft.mkdir()


def _free_bytes(path: Path) -> int:
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize


def _save_tensors(draft: Path, team: Team, parcel: Parcel) -> None:
    """Not synced yet: torch 2.6 and 2.8 sync files while their last bytes are still in Python's buffers."""
    alone = team.group is None
    writer = FileSystemWriter(draft, sync_files=False, overwrite=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.save(
            dict(parcel.tensors),
            storage_writer=writer,
            process_group=team.group,
            **(_ALONE if alone else {}),
        )


def _synced_share(draft: Path, team: Team) -> dict[str, Entry]:
    """This rank's share of the files, durable, with size and hash."""
    mine = sorted(draft.iterdir())[team.rank :: team.size]
    for path in mine:
        sync_file(path)
    return {path.name: manifest.entry_of(path) for path in mine}


def _merged(parts: list[dict[str, Entry]]) -> dict[str, Entry]:
    return {name: entry for part in parts for name, entry in part.items()}


def _finish(
    folder: Folder,
    team: Team,
    draft: Path,
    parcel: Parcel,
    rng: Mapping[int, Any],
    entries: dict[str, Entry],
) -> Path | None:
    if not team.leads:
        return None
    write_synced(draft / EXTRA, encode({**parcel.plain, "rng": rng}))
    files = {**entries, EXTRA: manifest.entry_of(draft / EXTRA)}
    listing = Manifest(parcel.step, parcel.position, team.size, time.time(), files, parcel.about)
    write_synced(draft / manifest.NAME, listing.to_json().encode())
    final = folder.root / draft.name.removeprefix(".saving-")
    if final.exists():
        folder.set_aside(final)
    return folder.commit(draft, parcel.step)


def encode(plain: Mapping[str, Any]) -> bytes:
    """Bytes that a weights-only load gives back; SaveError for what it would refuse at the next start."""
    stream = io.BytesIO()
    torch.save(dict(plain), stream)
    try:
        decode(stream.getvalue())
    except Exception as error:
        raise SaveError(f"keep plain values in scheduler, parts and about: {error}") from error
    return stream.getvalue()


def decode(data: bytes) -> dict[str, Any]:
    return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)

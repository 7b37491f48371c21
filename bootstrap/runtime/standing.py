"""What stands in the folder of runtimes: a sealed one, a damaged one, or what a killed process left."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bootstrap.runtime.exclusive import taken
from bootstrap.runtime.mark import Mark, Trust, read_mark, trust
from bootstrap.runtime.seal import NAME, Damage, Seal, SealError, digest_of, read_seal
from bootstrap.runtime.tree import Beat, verify

_SHOWN = 3


@dataclass(frozen=True)
class Folders:
    """The paths of one runtime. `root` holds runtimes, `spare` what is needed to build them."""

    root: Path
    spare: Path
    id: str

    @property
    def tree(self) -> Path:
        """The sealed folder."""
        return self.root / self.id

    @property
    def mark(self) -> Path:
        """Stands last: without it the folder is worth nothing."""
        return self.root / f"{self.id}.json"

    @property
    def lock(self) -> Path:
        """Held by whoever makes or verifies this runtime."""
        return self.root / f".{self.id}.lock"

    @property
    def work(self) -> Path:
        """Half done; on the same disk as the sealed folder."""
        return self.root / f".{self.id}.partial"

    @property
    def scratch(self) -> Path:
        """uv, its cache and its CPythons while building."""
        return self.spare / f".{self.id}.scratch"


@dataclass(frozen=True)
class Look:
    """What was found. `damage` is empty for one that stands and for one that was never there."""

    mark: Mark | None
    trust: Trust
    seal: Seal | None = None
    damage: tuple[Damage, ...] = ()

    @property
    def stands(self) -> bool:
        """Whether it can be used as it is."""
        return self.mark is not None and self.seal is not None and not self.damage

    @property
    def says(self) -> str:
        """The damage in one line."""
        more = f" and {len(self.damage) - _SHOWN} more" if len(self.damage) > _SHOWN else ""
        return f"damaged: {'; '.join(str(each) for each in self.damage[:_SHOWN])}{more}"


def looked_at(folders: Folders, wanted: str, boot: str, beat: Beat, full: bool = False) -> Look:
    """Look at what stands, as closely as its mark asks for, or with `full` at every byte."""
    mark = read_mark(folders.mark)
    asked = trust(mark, boot)
    if mark is None:
        if not folders.tree.exists():
            return Look(None, asked)
        return Look(None, asked, damage=(Damage(folders.tree.name, "a mark that it's whole", "none"),))
    try:
        text = (folders.tree / NAME).read_text(encoding="utf-8")
        if digest_of(text) != mark.seal:
            raise SealError("edited after it was sealed")
        seal = read_seal(text)
        if seal.id != wanted:
            raise SealError(f"the seal of {seal.id}")
    except (OSError, UnicodeDecodeError, SealError) as error:
        return Look(mark, asked, damage=(Damage(NAME, "the seal that the mark names", str(error)),))
    return Look(mark, asked, seal, verify(folders.tree, seal, full or asked == "full", beat))


def remove(folders: Folders) -> None:
    """Take it away, the mark first, so that what is left by a kill in between is worth nothing.

    Raises OSError.
    """
    folders.mark.unlink(missing_ok=True)
    if folders.tree.exists():
        shutil.rmtree(folders.work, ignore_errors=True)
        folders.tree.rename(folders.work)
    shutil.rmtree(folders.work, ignore_errors=True)


def leftovers(folders: Folders, say: Callable[[str], None]) -> None:
    """Remove what killed processes left: of this runtime, and of others that nobody makes at this moment."""
    mine = (folders.work, folders.scratch)
    for pattern, where in ((".*.partial", folders.root), (".*.scratch", folders.spare)):
        for left in where.glob(pattern):
            lock = folders.root / f"{left.name.rpartition('.')[0]}.lock"
            if left in mine or not taken(lock):
                say(f"removing what a former try left: {left.name}")
                shutil.rmtree(left, ignore_errors=True)

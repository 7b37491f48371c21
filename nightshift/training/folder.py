"""The folder of checkpoints: names, which are whole, what may go. One process writes in it at a time."""

from __future__ import annotations

import fcntl
import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from nightshift.training import manifest
from nightshift.training.errors import TrainingError
from nightshift.training.files import remove_tree, replace, sync_folder

LATEST = "latest"
LOCK = ".lock"
_NAME = re.compile(r"step-(\d{6,})")
_UNFINISHED = re.compile(r"\.(saving|dropping|broken)-step-\d+|\..*\.part|\.probe-.*")
LOCK_WAIT_S = 20.0  # a killed worker's exit can lag behind its successor's start


def name_of(step: int) -> str:
    return f"step-{step:06d}"


def step_of(name: str) -> int | None:
    match = _NAME.fullmatch(name)
    return int(match.group(1)) if match else None


@dataclass(frozen=True)
class Found:
    """`whole`: the newest checkpoint that verifies, if any. `broken`: newer ones that don't, and why.

    `unknown`: newer ones that couldn't be read, and why. They may be whole, so they stay where they are.
    """

    whole: Path | None
    broken: tuple[tuple[Path, str], ...]
    unknown: tuple[tuple[Path, str], ...] = ()

    @property
    def step(self) -> int:
        """-1 without one."""
        step = step_of(self.whole.name) if self.whole else None
        return -1 if step is None else step


@dataclass(frozen=True)
class Folder:
    """`keep`: how many whole checkpoints stay (1 or more)."""

    root: Path
    keep: int

    def all(self) -> tuple[Path, ...]:
        """Every committed checkpoint, newest first, whole or not."""
        named = [(step, path) for path in self.root.iterdir() if (step := step_of(path.name)) is not None]
        return tuple(path for _, path in sorted(named, reverse=True))

    def draft(self, step: int) -> Path:
        return self.root / f".saving-{name_of(step)}"

    def find(self, *, hashes: bool = True, below: int | None = None) -> Found:
        """The newest whole one (under step `below`, if given)."""
        broken, unknown = list[tuple[Path, str]](), list[tuple[Path, str]]()
        for path in self.all():
            step = step_of(path.name)
            if below is not None and (step or 0) >= below:
                continue
            try:
                wrong = manifest.faults(path, hashes=hashes, step=step)
            except OSError as error:
                unknown.append((path, f"it can't be read: {error}"))
                continue
            if not wrong:
                return Found(path, tuple(broken), tuple(unknown))
            broken.append((path, "; ".join(wrong)))
        return Found(None, tuple(broken), tuple(unknown))

    def commit(self, draft: Path, step: int) -> Path:
        """Give a written and synced draft its name, then let `latest` point to it."""
        sync_folder(draft)
        final = self.root / name_of(step)
        draft.rename(final)
        sync_folder(self.root)
        replace(self.root / LATEST, f"{final.name}\n".encode())
        return final

    def set_aside(self, path: Path) -> None:
        """Take a broken one's name away, so that its step can be saved again; a later start sweeps it."""
        aside = self.root / f".broken-{path.name}"
        remove_tree(aside)
        path.rename(aside)
        sync_folder(self.root)

    def prune(self, held: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """Drop all but the `keep` newest, except names in `held`. Returns what went."""
        gone = [path for path in self.all()[self.keep :] if path.name not in held]
        for path in gone:
            dropping = self.root / f".dropping-{path.name}"
            path.rename(dropping)
            remove_tree(dropping)
        return tuple(path.name for path in gone)

    def sweep(self) -> tuple[str, ...]:
        """Remove what a killed run left unfinished. Only for the one that holds the lock."""
        left = [path for path in self.root.iterdir() if _UNFINISHED.fullmatch(path.name)]
        for path in left:
            if path.is_dir():
                remove_tree(path)
            else:
                path.unlink(missing_ok=True)
        return tuple(path.name for path in left)


class Lock:
    """One writer per folder, by a record lock: forked children don't hold it, a killed process frees it."""

    def __init__(self, root: Path, wait_s: float = LOCK_WAIT_S) -> None:
        self._descriptor = os.open(root / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        until = time.monotonic() + wait_s
        while not self._taken():
            if time.monotonic() > until:
                holder = os.pread(self._descriptor, 64, 0).decode(errors="replace").strip()
                os.close(self._descriptor)
                raise TrainingError(
                    f"{root}: another run (process {holder or 'unknown'}) is saving here; "
                    "give each run its own folder"
                )
            time.sleep(0.1)
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def _taken(self) -> bool:
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def release(self) -> None:
        with suppress(OSError):
            os.close(self._descriptor)

"""Makes sure that a preset's runtime stands: as given, as it stands, unpacked from the bucket, or built."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bootstrap.runtime.exclusive import exclusive
from bootstrap.runtime.mark import boot_id, flush, flush_later
from bootstrap.runtime.obtain import Limits, Obtaining, Tools
from bootstrap.runtime.presets import Preset, arch_of, preset
from bootstrap.runtime.problem import RuntimeProblem, free, is_full, no_room
from bootstrap.runtime.standing import Folders, leftovers, looked_at, remove
from bootstrap.runtime.store import RuntimeStore
from bootstrap.runtime.tree import Beat

Say = Callable[[str], None]
How = Literal["given", "stood", "unpacked", "built"]


@dataclass(frozen=True)
class RuntimePlace:
    """`folder` holds runtimes, `scratch` what is only needed to build one (default: `folder`; the same disk
    spares copying). `given`: an interpreter to take as it is.

    Seconds: `build_s` for a whole build, `wait_s` for another process that makes the same one, `patience_s`
    for a store that doesn't answer. `flush` later: beside what follows, and the next boot knows if it came
    to that.
    """

    folder: Path
    scratch: Path | None = None
    given: Path | None = None
    build_s: float = 2400.0
    wait_s: float = 3000.0
    patience_s: float = 60.0
    flush: Literal["later", "now"] = "later"


@dataclass(frozen=True)
class Installed:
    """A runtime that stands. `python` is its interpreter, `lock` its id, `seconds` what each step took.

    `notes`: what went wrong on the way and was mended, in sentences.
    """

    preset: str
    python: Path
    folder: Path
    lock: str
    how: How
    seconds: Mapping[str, float]
    notes: tuple[str, ...] = ()


def ensure(
    name: str, arch: str, place: RuntimePlace, store: RuntimeStore | None, say: Say, heartbeat: Beat
) -> Installed:
    """The runtime `name` on this machine of `arch`, sealed and proven. Every wait has a deadline.

    Raises RuntimeProblem, and what `heartbeat` raises: then what was begun is ended and removed.
    """
    if place.given is not None:
        return _given(name, place.given)
    return ensure_preset(preset(name, arch), place, store, say, heartbeat)


def ensure_preset(
    wanted: Preset, place: RuntimePlace, store: RuntimeStore | None, say: Say, heartbeat: Beat
) -> Installed:
    """`ensure` for a preset that isn't in the catalog."""
    _same_machine(wanted)

    def told(text: str) -> None:
        say(f"runtime {wanted.name}: {text}")

    try:
        place.folder.mkdir(parents=True, exist_ok=True)
        root = place.folder.resolve()
        folders = Folders(root, place.scratch.resolve() if place.scratch else root, wanted.id)
        with exclusive(folders.lock, place.wait_s, told, heartbeat) as held:
            tools = Tools(store, told, heartbeat, (held,))
            obtaining = Obtaining(wanted, folders, Limits(place.build_s, place.patience_s), tools)
            how = _ensured(obtaining, place.flush)
    except OSError as error:
        raise _unwritable(error, place.folder, wanted) from error
    told(f"{how} in {sum(obtaining.seconds.values()):.1f} s, {folders.tree}")
    python, notes = folders.tree / wanted.interpreter, tuple(obtaining.notes)
    return Installed(wanted.name, python, folders.tree, wanted.id, how, obtaining.seconds, notes)


def _ensured(obtaining: Obtaining, when: Literal["later", "now"]) -> How:
    if _stands(obtaining):
        return "stood"
    how, mark = obtaining.obtain()
    if when == "later":
        flush_later(obtaining.folders.mark, mark)
    else:
        with obtaining.timed("flush"):
            flush(obtaining.folders.mark, mark)
    return how


def _stands(obtaining: Obtaining) -> bool:
    """Whether it stands; if not, nothing of it is left."""
    folders, tools = obtaining.folders, obtaining.tools
    leftovers(folders, tools.say)
    with obtaining.timed("verify"):
        found = looked_at(folders, obtaining.wanted.id, boot_id(), tools.beat)
    if found.stands and found.mark and not found.mark.flushed:
        flush_later(folders.mark, found.mark)
    if found.seal and found.stands and found.mark and found.mark.how == "built":
        obtaining.keep_if_missing(found.seal)
    if found.damage:
        obtaining.note(f"{found.says}; made anew")
    if not found.stands:
        remove(folders)
    return found.stands


def _given(name: str, python: Path) -> Installed:
    if python.is_dir() or not os.access(python, os.X_OK):
        remedy = "name a Python, or unset NIGHTSHIFT_RUNTIME_PYTHON"
        raise RuntimeProblem("an interpreter", f"{python}, which can't be run", remedy)
    return Installed(name, python, python.parent.parent, "", "given", {})


def _same_machine(wanted: Preset) -> None:
    here = arch_of(platform.machine()) or platform.machine()
    if here != wanted.arch:
        raise RuntimeProblem(f"a machine of {wanted.arch}", here, "ask for the machine's own architecture")


def _unwritable(error: OSError, folder: Path, wanted: Preset) -> RuntimeProblem:
    if is_full(error):
        return no_room(folder, wanted.room, free(folder), full=True)
    return RuntimeProblem(f"to write in {folder}", str(error), "see the disk and its mount")

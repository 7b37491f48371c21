"""A world in a file for later runs, with what it was deployed from: it stands for nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter, ValidationError

import bootstrap
import nightshift
from nightshift.rehearsal.world.model import World

if TYPE_CHECKING:
    from nightshift.settings.models import Stack

_SHAPING = ("catalog", "plan", "rehearsal/world", "settings")
"""Rooms of the package that decide what is deployed, or how it is read back."""
_SHOWN = 5
_DIGITS = 16
_ANEW = "delete that file, or name another one, and the stack is deployed anew"


class Unfit(Exception):
    """The file's world can't be played; `lines` say why and what to do."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


@dataclass(frozen=True)
class Kept:
    """The file: a world, the settings that were deployed, and a digest of the program that did."""

    format: Literal[2]
    program: str
    settings: dict[str, Any]
    world: World


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Kept]:
    return TypeAdapter(Kept)


def to_text(world: World, stack: Stack, project: Path) -> str:
    """The file's text."""
    kept = Kept(2, program_digest(project), stack.model_dump(mode="json"), world)
    return _adapter().dump_json(kept, indent=1).decode() + "\n"


def from_text(text: str, stack: Stack, project: Path) -> World:
    """The world, if it is what this stack file would be deployed as now. Raises Unfit."""
    try:
        kept = _adapter().validate_json(text)
    except ValidationError:
        raise Unfit("it is no world of this release", _ANEW) from None
    if kept.world.site != stack.name:
        raise Unfit(f"it is the world of {kept.world.site}, not of {stack.name}", _ANEW)
    differing = list(_differing(kept.settings, stack.model_dump(mode="json")))
    if differing:
        more = [f"and {len(differing) - _SHOWN} more"] if len(differing) > _SHOWN else []
        raise Unfit("it was deployed from other settings:", *differing[:_SHOWN], *more, _ANEW)
    if kept.program != program_digest(project):
        raise Unfit("it was deployed by another version of the program", _ANEW)
    return kept.world


def program_digest(project: Path) -> str:
    """Of the sources that a deployment follows from: the project's program, the nodes' software, ours."""
    ours = Path(nightshift.__file__).parent
    roots = {"infra": project / "infra", "bootstrap": Path(bootstrap.__file__).parent}
    roots |= {room: ours / room for room in _SHAPING}
    digest = hashlib.sha256()
    for name, root in roots.items():
        for path in sorted(root.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"{name}/{path.relative_to(root)}\0".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:_DIGITS]


def _differing(then: Any, now: Any, where: str = "") -> Iterator[str]:
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in dict.fromkeys((*then, *now)):
            inner = f"{where}.{key}" if where else str(key)
            if key not in then:
                yield f"{inner}: not there then, there now"
            elif key not in now:
                yield f"{inner}: there then, not now"
            else:
                yield from _differing(then[key], now[key], inner)
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for index, (before, after) in enumerate(zip(then, now, strict=True)):
            yield from _differing(before, after, f"{where}[{index}]")
    elif then != now:
        yield f"{where}: {_word(then)} then, {_word(now)} now"


def _word(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} in number" if value else "none"
    if isinstance(value, Mapping):
        return "set"
    return "not set" if value is None else str(value)

"""Where the project and its stack files are, found from the current folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nightshift.cli.errors import UsageError


@dataclass(frozen=True)
class StackFile:
    """One stack of the project at `root`."""

    name: str
    path: Path
    root: Path


def find_root(start: Path) -> Path:
    """The nearest folder upwards that has a Pulumi.yaml."""
    for folder in (start, *start.parents):
        if (folder / "Pulumi.yaml").is_file():
            return folder
    raise UsageError(f"no Pulumi.yaml in {start} or above it: go to the project's folder")


def stack_names(root: Path) -> tuple[str, ...]:
    """The stacks that have a file in stacks/."""
    files = sorted((root / "stacks").glob("Pulumi.*.yaml"))
    return tuple(file.name.removeprefix("Pulumi.").removesuffix(".yaml") for file in files)


def choose(start: Path, asked: str | None, env: Mapping[str, str]) -> StackFile:
    """The stack asked for, the one Pulumi has selected, or the only one there is."""
    root = find_root(start)
    names = stack_names(root)
    wanted = (
        asked or env.get("PULUMI_STACK") or _selected(root, env) or (names[0] if len(names) == 1 else None)
    )
    if wanted is None:
        raise UsageError(f"which stack? Say --stack NAME: {_listed(names)}")
    if wanted not in names and (name := _of_path(wanted)) in names:
        raise UsageError(f"--stack takes a name, not a file: say --stack {name}")
    if wanted not in names:
        raise UsageError(f"no stack {wanted!r}: {_listed(names)}. {_hint(wanted, names)}".rstrip())
    return StackFile(wanted, root / "stacks" / f"Pulumi.{wanted}.yaml", root)


def _listed(names: Sequence[str]) -> str:
    return f"stacks/ has {', '.join(names)}" if names else "stacks/ has no Pulumi.<stack>.yaml"


def _hint(wanted: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(wanted, names, 1)
    return f"Did you mean {close[0]}?" if close else ""


def _of_path(wanted: str) -> str:
    """The stack that a path to its file means."""
    return Path(wanted).name.removeprefix("Pulumi.").removesuffix(".yaml")


def _selected(root: Path, env: Mapping[str, str]) -> str | None:
    """What `pulumi stack select` chose here: the engine's note is named after the Pulumi.yaml's path.

    Notes of Pulumi 3.274 have a stack for each backend that was logged in to; older ones had one `stack`.
    """
    import hashlib

    home = Path(env.get("PULUMI_HOME") or Path(env.get("HOME", "/")) / ".pulumi")
    path = str(root / "Pulumi.yaml")
    digest = hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()
    note = _read(home / "workspaces" / f"nightshift-{digest}-workspace.json")
    stacks = note.get("stacks")
    if not isinstance(stacks, dict):
        return _last(note.get("stack"))
    backend = env.get("PULUMI_BACKEND_URL") or _read(home / "credentials.json").get("current")
    if isinstance(backend, str):
        return _last(stacks.get(backend))
    return _last(next(iter(stacks.values()))) if len(stacks) == 1 else None


def _last(chosen: object) -> str | None:
    """`organization/nightshift/lab` is lab."""
    return chosen.rpartition("/")[2] or None if isinstance(chosen, str) else None


def _read(note: Path) -> dict[str, object]:
    """A JSON mapping of Pulumi's; empty where there is none."""
    import json

    try:
        found = json.loads(note.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}

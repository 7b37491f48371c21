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
        raise UsageError(f"which stack? Say --stack with one of: {_listed(names)}")
    if wanted not in names:
        raise UsageError(f"no stack {wanted!r}: {_listed(names)}. {_hint(wanted, names)}".rstrip())
    return StackFile(wanted, root / "stacks" / f"Pulumi.{wanted}.yaml", root)


def _listed(names: Sequence[str]) -> str:
    return f"stacks/ has {', '.join(names)}" if names else "stacks/ has no Pulumi.<stack>.yaml"


def _hint(wanted: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(wanted, names, 1)
    return f"Did you mean {close[0]}?" if close else ""


def _selected(root: Path, env: Mapping[str, str]) -> str | None:
    """What `pulumi stack select` chose here: the engine's note is named after the Pulumi.yaml's path."""
    import hashlib
    import json

    home = Path(env.get("PULUMI_HOME") or Path(env.get("HOME", "/")) / ".pulumi")
    path = str(root / "Pulumi.yaml")
    digest = hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()
    note = home / "workspaces" / f"nightshift-{digest}-workspace.json"
    try:
        chosen = json.loads(note.read_bytes())["stack"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(chosen).rpartition("/")[2] or None

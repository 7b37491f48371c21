"""Leave out of a program what the emulator never uses: less to fetch, less to compile.

`build/<program>/overlay/<import path>/` holds the product's own, short replacements. The pinned modules they
belong to are copied out of Go's module cache, where they were checked against go.sum. In such a package every
other file is left out, but for those that its KEEP file names by pattern.
"""

import fnmatch
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

KEEP = "KEEP"
_IGNORED = shutil.ignore_patterns("*_test.go", "testdata", ".git*")


@dataclass(frozen=True)
class Located:
    """A package of a pinned module: the module's path and folder, and the package's folder in it."""

    module: str
    root: Path
    folder: Path


def packages(overlay: Path) -> tuple[str, ...]:
    """The import paths that have replacements below `overlay`."""
    found = {path.parent.relative_to(overlay).as_posix() for path in overlay.rglob("*.go")}
    return tuple(sorted(found))


def slim(overlay: Path, locate: Callable[[str], Located], target: Path) -> dict[str, Path]:
    """Copy each module concerned below `target`, replacements in place. Returns module path -> copy."""
    copies: dict[str, Path] = {}
    for package in packages(overlay):
        place = locate(package)
        if place.module not in copies:
            copies[place.module] = target / place.module.replace("/", "_")
            shutil.copytree(place.root, copies[place.module], ignore=_IGNORED, copy_function=shutil.copyfile)
        _replace(overlay / package, _writable(copies[place.module] / place.folder.relative_to(place.root)))
    return copies


def _replace(ours: Path, copy: Path) -> None:
    for path in left_out(ours, copy):
        path.unlink()
    for path in ours.glob("*.go"):
        shutil.copyfile(path, copy / path.name)


def left_out(ours: Path, package: Path) -> Iterator[Path]:
    """The files of `package` that neither KEEP names nor a replacement stands for."""
    keep = ours / KEEP
    patterns = keep.read_text(encoding="utf-8").split() if keep.is_file() else []
    for path in sorted(package.glob("*.go")):
        if not any(fnmatch.fnmatch(path.name, pattern) for pattern in patterns):
            yield path


def _writable(folder: Path) -> Path:
    folder.chmod(0o755)
    return folder

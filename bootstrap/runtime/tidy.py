"""Makes a folder of packages fit to be sealed: it works wherever it's put, and is the same every time."""

from __future__ import annotations

import base64
import csv
import io
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from bootstrap.runtime.seal import MTIME
from bootstrap.runtime.tree import walk

_SHEBANG = re.compile(rb"\A#!(?P<path>[^\n]*/bin/(?P<name>python[\d.]*))[^\n]*\n")
_FOUND = b"""#!/bin/sh
'''exec' "$(dirname -- "$(realpath -- "$0")")/%s" "$0" "$@"
' '''
"""
_TEXTS = ("_sysconfigdata", "Makefile", "python-config.py")


def relative_scripts(tree: Path) -> int:
    """Let the scripts of `bin` find their Python beside them; gives how many. Raises OSError."""
    count = 0
    for path in sorted((tree / "bin").iterdir()):
        if path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes()
        if head := _SHEBANG.match(data):
            rewrite(path, _FOUND % head["name"] + data[head.end() :])
            count += 1
    return count


def forget_scripts(site: Path) -> None:
    """Take the hashes of scripts out of the wheels' records: they were made here, for the place of the build.

    Raises OSError.
    """
    for record in sorted(site.glob("*.dist-info/RECORD")):
        with record.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        if any(row[0].startswith("../") for row in rows if row):
            told = io.StringIO(newline="")
            kept = ([*row[:1], "", ""] if row[0].startswith("../") else row for row in rows if row)
            csv.writer(told, lineterminator="\n").writerows(kept)
            rewrite(record, told.getvalue().encode())


def rewrite(path: Path, data: bytes) -> None:
    """A new file in its place: the old one may be linked from a cache. Raises OSError."""
    mode = path.stat().st_mode
    partial = path.with_name(f".{path.name}.partial")
    partial.write_bytes(data)
    partial.chmod(stat.S_IMODE(mode))
    partial.replace(path)


def settle(tree: Path, built: Path, final: Path) -> None:
    """Name the final place where the build's is written down, for who compiles against this Python."""
    for path in (each for each, _ in walk(tree) if _is_text(each)):
        data = (tree / path).read_bytes()
        if bytes(built) in data:
            rewrite(tree / path, data.replace(bytes(built), bytes(final)))


def _is_text(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith(_TEXTS) or name.endswith(".pc")


def still(tree: Path, compiled: bool) -> None:
    """One time and plain modes for all files. Without `compiled`, compiled Python goes. Raises OSError."""
    for path, entry in list(walk(tree)):
        if path.endswith(".pyc") and not compiled:
            Path(entry.path).unlink()
            continue
        if entry.is_symlink():
            continue
        mode = entry.stat(follow_symlinks=False).st_mode
        wanted = 0o755 if mode & 0o100 else 0o644
        if stat.S_IMODE(mode) != wanted:
            Path(entry.path).chmod(wanted)
        os.utime(entry.path, (MTIME, MTIME))


def recorded(site: Path) -> Iterator[tuple[str, str]]:
    """(path relative to `site`, sha256) of what the wheels say of their own files. Raises OSError."""
    for record in sorted(site.glob("*.dist-info/RECORD")):
        with record.open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                if len(row) == 3 and row[1].startswith("sha256="):
                    yield row[0], _hex(row[1].removeprefix("sha256="))


def _hex(text: str) -> str:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).hex()


def site_packages(tree: Path, python: str) -> Path:
    """Where packages lie; `python` is 3.12."""
    return tree / "lib" / f"python{python}" / "site-packages"


def other_than_recorded(tree: Path, site: Path, hashes: dict[str, str]) -> list[str]:
    """Installed files that differ from what their hashed wheel holds; scripts in `bin` are made here."""
    inside = site.relative_to(tree).as_posix()
    wanted = {f"{inside}/{path}": digest for path, digest in recorded(site) if _is_of_wheel(path)}
    return sorted(path for path, digest in wanted.items() if hashes.get(path) != digest)


def _is_of_wheel(path: str) -> bool:
    return not path.startswith("../") and not path.endswith(".pyc")

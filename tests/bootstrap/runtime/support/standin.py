"""A CPython archive made of an installed one, laid out as uv's own, and a table that uv takes it from.

So that building goes the whole way, the hash of the archive included, without a download. As a program,
`PYTHON standin.py FOLDER` makes it of PYTHON, with its whole standard library. Imports nothing of ours.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import sysconfig
import tarfile
from pathlib import Path

NEVER = {"test", "tests", "site-packages", "dist-packages", "__pycache__"}
SPARED = {
    "idlelib",
    "tkinter",
    "turtledemo",
    "ensurepip",
    "lib2to3",
    "unittest",
    "pydoc_data",
    "asyncio",
    "xml",
    "xmlrpc",
    "wsgiref",
    "sqlite3",
    "curses",
    "dbm",
    "venv",
    "html",
    "http",
    "pydoc.py",
}
"""What neither uv nor a small runtime needs."""
CODECS = {"__init__", "aliases", "utf_8", "utf_8_sig", "ascii", "latin_1", "idna", "cp437", "punycode"}
VERSION = platform.python_version()
MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"


def archive(folder: Path, whole: bool = False) -> Path:
    """The archive, in `folder`. It has no symbolic links and no packages."""

    def kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        path = Path(member.name)
        codec = path.parent.name == "encodings" and path.stem not in CODECS
        spared = not whole and (codec or path.name in SPARED)
        return None if spared or path.name in NEVER or path.name.endswith((".a", ".o")) else member

    made = folder / "cpython.tar.gz"
    with tarfile.open(made, "w:gz", compresslevel=1) as tar:
        executable = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
        tar.add(executable, f"python/bin/python{MINOR}")
        for library in Path(sys.base_prefix).glob(f"lib/libpython{MINOR}*.so*"):
            tar.add(library.resolve(), f"python/lib/{library.name}")
        tar.add(sysconfig.get_path("stdlib"), f"python/lib/python{MINOR}", filter=kept)
        tar.add(sysconfig.get_path("include"), f"python/include/python{MINOR}")
    return made


def table(folder: Path, spoiled: bool = False, whole: bool = False) -> Path:
    """The table for UV_PYTHON_DOWNLOADS_JSON_URL; `spoiled` names another sha256."""
    made = archive(folder, whole)
    machine, info = platform.machine(), sys.version_info
    digest = hashlib.sha256(b"" if spoiled else made.read_bytes()).hexdigest()
    entry = {
        "name": "cpython",
        "arch": {"family": machine, "variant": None},
        "os": "linux",
        "libc": "gnu",
        "major": info.major,
        "minor": info.minor,
        "patch": info.micro,
        "prerelease": "",
        "url": made.resolve().as_uri(),
        "sha256": digest,
        "variant": None,
    }
    path = folder / "cpythons.json"
    path.write_text(json.dumps({f"cpython-{VERSION}-linux-{machine}-gnu": entry}), encoding="utf-8")
    return path


if __name__ == "__main__":
    table(Path(sys.argv[1]), whole=True)
    print(VERSION)

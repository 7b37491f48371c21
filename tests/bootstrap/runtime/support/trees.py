"""Small sealed folders made by hand, for what needs no build."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from bootstrap.runtime.presets import LAYOUT, Preset
from bootstrap.runtime.seal import MTIME, NAME, File, Seal

FILES = {
    "bin/python3.12": b"#!/bin/sh\necho hello\n",
    "lib/libtorch.so": bytes(range(256)) * 40,
    "lib/python3.12/site-packages/torch/__init__.py": b"__version__ = '2.15.0'\n",
    "lib/python3.12/site-packages/torch/empty.py": b"",
}
LINKS = {"bin/python": "python3.12", "lib/libtorch.so.1": "libtorch.so"}


def small_preset(python: str = "3.12.16", lock: str = "alpha==1.0 \\\n    --hash=sha256:00\n") -> Preset:
    """A preset for this machine that no catalog has."""
    machine = {"aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
    assert LAYOUT
    return Preset("small", machine, python, lock, 1 << 20)


def plant(tree: Path, seal_id: str, files: dict[str, bytes] | None = None) -> Seal:
    """Write the files and links, sealed."""
    contents = FILES if files is None else files
    for path, data in contents.items():
        place = tree / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        place.chmod(0o755 if path.startswith("bin/") else 0o644)
        os.utime(place, (MTIME, MTIME))
    links = LINKS if files is None else {}
    for path, target in links.items():
        (tree / path).symlink_to(target)
    seal = Seal(
        seal_id,
        "3.12.16",
        tuple(
            File(path, len(data), hashlib.sha256(data).hexdigest(), path.startswith("bin/"))
            for path, data in sorted(contents.items())
        ),
        tuple(sorted(links.items())),
    )
    tree.mkdir(parents=True, exist_ok=True)
    (tree / NAME).write_text(seal.to_json(), encoding="utf-8")
    return seal

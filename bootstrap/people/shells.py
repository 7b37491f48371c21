"""What a login shell of a person finds: the runtime's Python, before the image's own."""

from __future__ import annotations

import shlex
from pathlib import Path

PROFILE = Path("etc/profile.d/nightshift.sh")
"""Read by login shells of every image (/etc/profile)."""
FIRST_PERSON = 1000


def profile(python: Path) -> str:
    """For people only: root's own tools want the image's Python."""
    folder = shlex.quote(str(python.parent))
    return f'[ "$(id -u)" -lt {FIRST_PERSON} ] || export PATH={folder}:"$PATH"\n'


def write_profile(python: Path, root: Path) -> None:
    """Whole or not at all. Raises OSError."""
    path = root / PROFILE
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(profile(python), encoding="utf-8")
    partial.chmod(0o644)
    partial.replace(path)

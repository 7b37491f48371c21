"""Where a node gets uv from: one of the pinned version that is there, else the image's own pip, by hash."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bootstrap.commands import MISSING, Ran
from bootstrap.runtime.presets import UV, UV_LOCK
from bootstrap.runtime.problem import RuntimeProblem

Run = Callable[[Sequence[str]], Ran]
_PIP = ("install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--require-hashes")


def find_uv(folder: Path, run: Run, python: str = sys.executable, search: str | None = None) -> Path:
    """A uv of the pinned version; put into `folder` where none is on the path `search` (default: PATH).

    Raises RuntimeProblem.
    """
    places = (search if search is not None else os.environ.get("PATH", ""), str(Path(sys.executable).parent))
    for place in places:
        found = shutil.which("uv", path=place)
        if found and is_pinned(run([found, "--version"])):
            return Path(found)
    return _fetched(folder, run, python)


def is_pinned(ran: Ran) -> bool:
    """`uv 0.13.9 (...)`; another version has another table of CPythons."""
    return ran.code == 0 and ran.out.split()[:2] == ["uv", UV]


def _fetched(folder: Path, run: Run, python: str) -> Path:
    """With pip, or with the pip of a virtual environment: Debian splits either from Python."""
    target = [*_PIP, "--only-binary", ":all:", "--target", str(folder / "uv"), "-r", str(UV_LOCK)]
    ran = run([python, "-m", "pip", *target])
    if _no_pip(ran):
        made = run([python, "-m", "venv", str(folder / "pip")])
        if made.code:
            raise _problem(f"no pip for {python}, and no venv either: {made.words}")
        ran = run([str(folder / "pip" / "bin" / "python"), "-m", "pip", *target])
    found = folder / "uv" / "bin" / "uv"
    if ran.code or not found.exists():
        raise _problem(f"pip's {ran.words}")
    if not is_pinned(told := run([str(found), "--version"])):
        raise _problem(f"{found} says {told.words}")
    return found


def _no_pip(ran: Ran) -> bool:
    return ran.code == MISSING or "No module named pip" in ran.err


def _problem(found: str) -> RuntimeProblem:
    return RuntimeProblem(
        f"uv {UV}, on the path or by the image's pip",
        found,
        "use an image with python3-pip or uv; let the node reach a package index (a mirror: PIP_INDEX_URL)",
    )

"""Builds a runtime from its lock with uv: CPython, packages, compiled Python, seal."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bootstrap.commands import Ran
from bootstrap.runtime.presets import Preset, minor
from bootstrap.runtime.problem import RuntimeProblem, free, no_room, says_full, size
from bootstrap.runtime.running import Surroundings, run_watched
from bootstrap.runtime.seal import NAME, File, Seal
from bootstrap.runtime.tidy import (
    forget_scripts,
    other_than_recorded,
    relative_scripts,
    settle,
    site_packages,
    still,
)
from bootstrap.runtime.tree import Beat, hashes, observe
from bootstrap.runtime.uv import find_uv

_SAY_S = 10.0
_LINES, _WORDS = 6, 700
_TROUBLE = re.compile(r"(?:error|×|Failed)\b|× ", re.IGNORECASE)
_COMPILED = (0, 1)
"""compileall answers 1 for files that aren't meant for this Python; they stay as they are."""


@dataclass(frozen=True)
class Site:
    """Where and how to build. `work` is ours alone and removed afterwards by the caller; `final` is where the
    result will stand. `limit_s` for all of it, `held` see Surroundings."""

    work: Path
    final: Path
    scratch: Path
    limit_s: float
    say: Callable[[str], None]
    beat: Beat
    held: tuple[int, ...] = ()


def build(preset: Preset, site: Site) -> Seal:
    """Make `site.work/tree`, sealed. Raises RuntimeProblem, OSError, and what `site.beat` raises."""
    return _Build(preset, site).build()


class _Build:
    """One build: the commands share a deadline and an environment."""

    def __init__(self, preset: Preset, site: Site) -> None:
        self._preset, self._site = preset, site
        self._deadline = time.monotonic() + site.limit_s
        self._tree = site.work / "tree"
        self._free_before, self._said = free(site.work), time.monotonic()
        own = site.scratch / "uv-cache"
        self._links = "copy" if "UV_CACHE_DIR" in os.environ else "hardlink"
        self._environment = environment(os.environ, own)

    def build(self) -> Seal:
        uv = self._uv()
        self._interpreter(uv)
        self._packages(uv)
        self._tidy()
        return self._seal()

    def _uv(self) -> Path:
        def run(command: Sequence[str]) -> Ran:
            return self._run(command, "fetching uv")

        return find_uv(self._site.scratch, run)

    def _interpreter(self, uv: Path) -> None:
        """uv's own CPython; its table holds the sha256 of each."""
        wanted, place = self._preset.python, self._site.scratch / "pythons"
        self._site.say(f"fetching CPython {wanted}")
        call = [
            str(uv),
            "python",
            "install",
            "--install-dir",
            str(place),
            "--no-bin",
            "--managed-python",
            wanted,
        ]
        self._succeed(call, f"CPython {wanted} from uv", "fetching CPython")
        found = [each for each in place.glob(f"cpython-{wanted}-*") if not each.is_symlink()]
        if len(found) != 1:
            told = ", ".join(each.name for each in found) or "nothing"
            raise RuntimeProblem(f"one CPython {wanted} in {place}", told, "report this: uv lays it out anew")
        shutil.move(found[0], self._tree)
        self._old = found[0]

    def _packages(self, uv: Path) -> None:
        lock = self._site.work / "lock.txt"
        lock.write_text(self._preset.lock, encoding="utf-8")
        python = str(self._tree / self._preset.interpreter)
        self._site.say(f"installing {self._preset.lock.count('==')} packages by hash")
        where = ["--python", python, "--break-system-packages", "--link-mode", self._links]
        exact = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(lock)]
        self._succeed([str(uv), "pip", "install", *where, *exact], "packages as locked", "installing")
        check = [str(uv), "pip", "check", "--python", python]
        self._succeed(check, "packages that fit together", "checking packages")

    def _tidy(self) -> None:
        tree = self._tree
        relative_scripts(tree)
        forget_scripts(site_packages(tree, minor(self._preset.python)))
        settle(tree, self._old, self._site.final)
        still(tree, compiled=False)
        self._site.say("compiling")
        python = [str(tree / self._preset.interpreter), "-I", "-m", "compileall", "-q", "-j", "0"]
        options = ["-s", str(tree), "-p", str(self._site.final), "--invalidation-mode", "timestamp"]
        ran = self._run([*python, *options, str(tree / "lib")], "compiling")
        if ran.code not in _COMPILED:
            raise self._failed("compiled Python", ran)
        still(tree, compiled=True)

    def _seal(self) -> Seal:
        self._site.say("sealing")
        tree, preset = self._tree, self._preset
        seen = observe(tree)
        digests = dict(hashes(tree, sorted(each for each in seen if seen[each].kind == "file"), self._beat))
        wrong = other_than_recorded(tree, site_packages(tree, minor(preset.python)), digests)
        if wrong:
            found = f"{len(wrong)} that differ, {wrong[0]} first"
            raise RuntimeProblem(
                "installed files as their wheels record them", found, "see the disk: it lies"
            )
        files = tuple(File(path, seen[path].size, digests[path], seen[path].executable) for path in digests)
        links = tuple((path, seen[path].target) for path in sorted(seen) if seen[path].kind == "link")
        seal = Seal(preset.id, preset.python, files, links)
        (tree / NAME).write_text(seal.to_json(), encoding="utf-8")
        return seal

    def _succeed(self, command: Sequence[str], expected: str, doing: str) -> None:
        ran = self._run(command, doing)
        if ran.code:
            raise self._failed(expected, ran)

    def _failed(self, expected: str, ran: Ran) -> RuntimeProblem:
        if says_full(ran.err + ran.out):
            return no_room(self._site.work, self._preset.room, free(self._site.work), full=True)
        remedy = "let the node reach a package index and uv's downloads, or mirrors of both (docs/runtime.md)"
        return RuntimeProblem(expected, f"exit code {ran.code}: {reason(ran)}", remedy)

    def _run(self, command: Sequence[str], doing: str) -> Ran:
        around = Surroundings(self._environment, str(self._site.work), self._site.held)
        left = max(1.0, self._deadline - time.monotonic())
        return run_watched(command, around, left, lambda: self._beat(doing))

    def _beat(self, doing: str = "") -> None:
        self._site.beat()
        if doing and time.monotonic() - self._said >= _SAY_S:
            self._said = time.monotonic()
            written = max(0, self._free_before - free(self._site.work))
            self._site.say(f"{doing}: about {size(written)} written so far")


def reason(ran: Ran) -> str:
    """What went wrong, in uv's words: from its first line of trouble on, or the last lines there are."""
    lines = [" ".join(line.split()) for line in (ran.err or ran.out).splitlines() if line.strip()]
    first = next((at for at, line in enumerate(lines) if _TROUBLE.match(line)), max(0, len(lines) - _LINES))
    return " / ".join(lines[first : first + _LINES])[:_WORDS] or "no output"


def environment(given: Mapping[str, str], cache: Path) -> dict[str, str]:
    """uv's: given settings stay, mirrors and proxies among them; no progress bars, own cache, patience."""
    python = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in given.items() if name not in python}
    own = {
        "UV_NO_PROGRESS": "1",
        "UV_HTTP_TIMEOUT": "60",
        "UV_HTTP_RETRIES": "6",
        "UV_PYTHON_DOWNLOADS": "automatic",
    }
    return {"UV_CACHE_DIR": str(cache), "HOME": str(cache.parent), **own, **kept}

"""A whole node's worth of runtime on this machine: own CPython table, own wheels, own index, own bucket.

`python -m tests.bootstrap.runtime.support.lane FOLDER` makes the runtime once, as a process that can be
killed, and prints how it came as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from bootstrap.runtime import obtain
from bootstrap.runtime.ensure import RuntimePlace, ensure_preset
from bootstrap.runtime.presets import Preset
from bootstrap.runtime.problem import RuntimeProblem
from bootstrap.runtime.standing import Folders
from tests.bootstrap.runtime.support import standin, wheels
from tests.bootstrap.runtime.support.folder_store import FolderStore
from tests.bootstrap.runtime.support.index import Index, serving
from tests.bootstrap.runtime.support.trees import small_preset

ROOT = Path(__file__).parents[4]
ROOM = 160 << 20


@dataclass(frozen=True)
class Lane:
    """`base` holds the bucket and what it's built from; nodes are folders of their own below it."""

    base: Path
    index: Index

    @property
    def wanted(self) -> Preset:
        """What all nodes here want."""
        return preset_of(self.base)

    @property
    def store(self) -> FolderStore:
        """The bucket."""
        return FolderStore(self.base / "bucket")

    @property
    def pack(self) -> Path:
        """Where its pack lies."""
        return self.store.path(self.wanted.key)

    def folders(self, root: Path) -> Folders:
        """Of a node whose runtimes lie in `root`."""
        return Folders(root, root, self.wanted.id)

    def environment(self) -> dict[str, str]:
        """Of a node's process: everything it fetches comes from here."""
        own = {
            "UV_DEFAULT_INDEX": self.index.url,
            "UV_PYTHON_DOWNLOADS_JSON_URL": str(self.base / "cpythons.json"),
            "UV_HTTP_RETRIES": "2",
            "PYTHONPATH": str(ROOT),
        }
        return {**{key: value for key, value in os.environ.items() if not key.startswith("UV_")}, **own}

    def start(self, root: Path, **options: object) -> subprocess.Popen[str]:
        """A process that makes the runtime in `root`; `store=False` without a bucket."""
        words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        command = [
            sys.executable,
            "-m",
            "tests.bootstrap.runtime.support.lane",
            str(self.base),
            str(root),
            *words,
        ]
        return subprocess.Popen(
            command,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def make(self, root: Path, **options: object) -> dict[str, object]:
        """The same, to its end; what it printed."""
        return told(self.start(root, **options))


def told(process: subprocess.Popen[str], limit_s: float = 240.0) -> dict[str, object]:
    """What a process of `start` printed last. A traceback fails the test."""
    out, err = process.communicate(timeout=limit_s)
    assert process.returncode == 0, err
    return {**json.loads(out.splitlines()[-1]), "said": out.splitlines()[:-1]}


def preset_of(base: Path) -> Preset:
    """The small lock, with this machine's own CPython."""
    given = small_preset(standin.VERSION, (base / "lock.txt").read_text(encoding="utf-8"))
    return Preset(given.name, given.arch, given.python, given.lock, ROOM)


@contextmanager
def lane(base: Path) -> Generator[Lane]:
    """Make everything that a build takes, and serve it."""
    made = wheels.make(base / "wheels")
    (base / "lock.txt").write_text(wheels.lock(made), encoding="utf-8")
    standin.table(base)
    with serving(base / "wheels") as index:
        yield Lane(base, index)


def _made(given: argparse.Namespace) -> Mapping[str, object]:
    place = RuntimePlace(
        given.root, wait_s=given.wait_s, build_s=given.build_s, patience_s=1.0, flush=given.flush
    )
    store = FolderStore(given.base / "bucket", slow_s=given.slow_s) if given.store == "True" else None

    if given.blind == "True":
        vars(obtain)["check_room"] = lambda folder, needed: None

    def say(text: str) -> None:
        print(f"{time.time():.3f} {text}", flush=True)

    try:
        return asdict(ensure_preset(preset_of(given.base), place, store, say, lambda: None))
    except RuntimeProblem as problem:
        return {"how": "problem", "problem": str(problem), "found": problem.found, "remedy": problem.remedy}


def main() -> int:
    """Exit code 0 whatever came of it: the last line tells."""
    parser = argparse.ArgumentParser()
    parser.add_argument("base", type=Path)
    parser.add_argument("root", type=Path)
    parser.add_argument("--store", default="True")
    parser.add_argument("--flush", default="later")
    parser.add_argument("--blind", default="False", help="without looking for room first")
    for name, default in (("wait-s", 200.0), ("build-s", 200.0), ("slow-s", 0.0)):
        parser.add_argument(f"--{name}", type=float, default=default)
    print(json.dumps(_made(parser.parse_args()), default=str), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

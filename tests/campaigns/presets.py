"""The training library and the launcher with every preset's own torch and Python, not only the newest.

`python -m tests.campaigns.presets --python 3.12=PATH --python 3.13=PATH`: an environment for each lock in
`--where` (6 GB each, packages from the index that this machine is set up for), then the tests of
nightshift/training and of bootstrap/launch with it. Exit 1 where one fails.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bootstrap.runtime.presets import locks
from nightshift.catalog.runtimes import NEWEST, RUNTIMES

ROOT = Path(__file__).parents[2]
TESTERS = ("pytest", "pytest-socket", "pytest-timeout", "pytest-xdist", "hypothesis", "time-machine")
FOLDERS = ("tests/training", "tests/bootstrap/launch")
UV = (sys.executable, "-m", "uv")


def pinned(names: Sequence[str]) -> list[str]:
    """These packages at the versions of the developers' own lock."""
    found = dict(
        re.findall(r"^([a-z0-9-]+)(?:\[.*\])?==([^ ]+)", (ROOT / "requirements/dev.txt").read_text(), re.M)
    )
    return [f"{name}=={found[name]}" for name in names]


def environment(name: str, python: str, where: Path) -> Path:
    """The interpreter of a new environment with the preset's lock, and what tests need on top."""
    interpreter = where / name / "bin" / "python"
    install = [*UV, "pip", "install", "--quiet", "--python", str(interpreter)]
    lock = ROOT / "bootstrap/runtime/locks" / f"{name}.txt"
    subprocess.run([*UV, "venv", "--quiet", "--python", python, str(where / name)], check=True)
    subprocess.run([*install, "--require-hashes", "--no-deps", "-r", str(lock)], check=True)
    (moto,) = pinned(["moto"])
    emulated = [moto.replace("moto", "moto[server]"), *pinned(["pydantic", "pyyaml"])]
    subprocess.run([*install, *pinned(TESTERS), *emulated], check=True)
    return interpreter


def tested(interpreter: Path, more: Sequence[str]) -> int:
    """pytest's exit code."""
    chosen = ["-m", "not engine and not gpu and not aws", *FOLDERS, *more]
    return subprocess.run(
        [interpreter, "-m", "pytest", "-n", "0", "-q", *chosen], cwd=ROOT, check=False
    ).returncode


def main() -> int:
    """0 when all presets passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", default=[], metavar="MINOR=PATH")
    parser.add_argument("--only", choices=[*locks()], action="append")
    parser.add_argument("--where", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("pytest", nargs="*", help="more for pytest")
    given = parser.parse_args()
    pythons = dict(each.split("=", 1) for each in given.python)
    failed = []
    for name in given.only or [one for one in locks() if one != NEWEST]:
        with tempfile.TemporaryDirectory(prefix="preset-", dir=given.where) as folder:
            interpreter = environment(name, pythons[RUNTIMES[name].python], Path(folder))
            if tested(interpreter, given.pytest):
                failed.append(name)
    print(f"failed: {', '.join(failed) or 'none'}")
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())

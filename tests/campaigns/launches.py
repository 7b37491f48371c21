"""Jobs of two nodes hurt in every way, many times, beside plain torchrun. Root, one JSON and one page out.

`python -m tests.campaigns.launches --out docs/launches.json` plays `--n` rounds of every event on real
processes in network namespaces, on the CPU with gloo; plain torchrun plays at the same time, on nodes of
its own. A round is written as soon as it's done; after `--limit-s` no new one begins. Exit 1 when a single
one of ours hung, ended unsaved or left a process.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nightshift.emulator.sandbox.network import reason_to_skip
from tests.campaigns.launches_page import page

LANES = ("ours", "plain")


def main() -> int:
    """0 when all held, 1 when something didn't, 2 when this machine can't."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=20, help="rounds of each event (20)")
    parser.add_argument("--limit-s", type=float, default=2600.0)
    parser.add_argument("--only", choices=LANES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if reason := reason_to_skip():
        print(reason, file=sys.stderr)
        return 2
    lanes = [given.only] if given.only else list(LANES)
    with tempfile.TemporaryDirectory(prefix="launches-") as folder:
        files = {lane: Path(folder) / f"{lane}.json" for lane in lanes}
        running = [_begun(lane, file, given) for lane, file in files.items()]
        loads = [os.getloadavg()[0]]
        while any(process.poll() is None for process in running):
            time.sleep(5)
            loads.append(os.getloadavg()[0])
            _write(given.out, files, loads)
        _write(given.out, files, loads)
    result = json.loads(given.out.read_text())
    problems = [words for lane in LANES[:1] for words in result.get(lane, {}).get("problems", [])]
    print("\n".join(problems) or "no problems", file=sys.stderr)
    return int(bool(problems) or any(process.returncode for process in running))


def _begun(lane: str, file: Path, given: argparse.Namespace) -> subprocess.Popen[bytes]:
    words = [str(file), str(given.n), str(given.limit_s), str(given.seed)]
    command = [sys.executable, "-m", f"tests.campaigns.launches_{lane}", *words]
    return subprocess.Popen(command, env={**os.environ, "PYTHONUNBUFFERED": "1"})


def _about(loads: list[float]) -> str:
    """The machine, and how busy it was: figures of a busy one are of little use beside those of another."""
    return (
        f"Linux {platform.release()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"torch {version('torch')}, load {min(loads):.0f} to {max(loads):.0f}, {time.strftime('%Y-%m-%d')}"
    )


def _write(out: Path, files: dict[str, Path], loads: list[float]) -> None:
    """What there is, over what an earlier run of another lane left."""
    result: dict[str, Any] = json.loads(out.read_text()) if out.exists() else {}
    result["about"] = _about(loads)
    for lane, file in files.items():
        if file.exists():
            result[lane] = json.loads(file.read_text())
    part = out.with_suffix(".part")
    part.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")
    part.replace(out)
    out.with_suffix(".md").write_text(page(result))


if __name__ == "__main__":
    sys.exit(main())

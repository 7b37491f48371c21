"""The runtime in full: presets built for real from the index, beside pip; and many rounds of hardship.

`python -m tests.campaigns.runtime --python 3.12=PATH --python 3.13=PATH --out docs/runtime.json`. Real builds
take packages from the index that this machine is set up for (3 GB a build, and again for pip), and CPython
from the one named, packed as uv's own are. Needs 30 GB in `--where`, and root for the small filesystems.
`--only` plays one part and keeps the others' figures. Exit 1 when anything half done, changed or cut passed
for a runtime.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from bootstrap.runtime.presets import locks
from nightshift.catalog.runtimes import NEWEST, RUNTIMES
from tests.bootstrap.runtime.support.hardship import Outcome, full_disks, kills, measured_s, sealed, tampering
from tests.bootstrap.runtime.support.lane import Lane, lane, told
from tests.campaigns.runtime_real import Figures, real, say


def hardship(where: Path, scale: float, seed: int) -> dict[str, Outcome]:
    """Kills, full disks, tampering, two at once: on a small runtime made from nothing but this machine."""
    chance = random.Random(seed)
    with lane(where) as made:
        made.make(where / "first")
        size = sealed(made.folders(where / "first")).size
        found = {}
        for name, fresh, nodes in (("unpacking", False, 40), ("building", True, 20)):
            longest = measured_s(made, where / "measured", fresh)
            say(f"{name} takes {longest:.1f} s here")
            steps = [int(size * chance.uniform(0.01, 0.95)) for _ in range(int(nodes * scale / 2))]
            found[f"disk full while {name}"] = full_disks(made, steps, where / f"{name}-full", fresh)
            found[f"killed while {name}"] = kills(
                made, int(nodes * scale), longest, chance, where / f"{name}-killed", fresh
            )
            say(f"{name}: {found}")
        made.make(where / "last")
        found["tampered with"] = tampering(made, where / "tampered", int(90 * scale), chance)
        found["two at once"] = together(made, int(10 * scale), where / "together")
    return found


def together(made: Lane, rounds: int, base: Path) -> Outcome:
    """Two processes on one node, and two nodes, all four at the same time, with an empty bucket."""
    outcome = Outcome()
    for number in range(rounds):
        made.pack.unlink(missing_ok=True)
        outcome.rounds += 1
        roots = [base / f"{number}-{name}" for name in ("one", "one", "two")]
        ends = sorted(str(told(each)["how"]) for each in [made.start(root) for root in roots])
        outcome.counts[", ".join(ends)] += 1
        if ends.count("stood") != 1 or len(list((made.base / "bucket").iterdir())) != 1:
            outcome.problems.append(f"{ends}, {list((made.base / 'bucket').iterdir())}")
        shutil.rmtree(base)
    return outcome


def _python(text: str) -> tuple[str, str]:
    minor, _, path = text.partition("=")
    return minor, path


def _parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.runtime")
    parser.add_argument("--python", type=_python, action="append", default=[], metavar="MINOR=PATH")
    parser.add_argument("--only", choices=[*locks(), "hardship"], action="append")
    parser.add_argument("--rounds", type=int, default=2, help="builds of the newest preset beside pip")
    parser.add_argument("--scale", type=float, default=1.0, help="of the rounds of hardship")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--where", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Writes the figures after each part."""
    given = _parsed(arguments)
    pythons, problems = dict(given.python), 0
    figures: Figures = json.loads(given.out.read_text()) if given.out.exists() else {}
    figures["machine"] = f"Linux {platform.release()}, {os.cpu_count()} cores, seed {given.seed}"
    for part in given.only or ["hardship", *reversed(locks())]:
        with tempfile.TemporaryDirectory(prefix="runtime-", dir=given.where) as where:
            say(part)
            if part == "hardship":
                found = hardship(Path(where), given.scale, given.seed)
                problems += sum(len(each.problems) for each in found.values())
                figures[part] = {name: asdict(each) for name, each in found.items()}
            else:
                rounds = given.rounds if part == NEWEST else 0
                figures[part] = real(part, pythons[RUNTIMES[part].python], Path(where), rounds)
        given.out.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

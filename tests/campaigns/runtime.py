"""The runtime in full: presets built for real from the index, beside pip; and many rounds of hardship.

`python -m tests.campaigns.runtime --python 3.12=PATH --python 3.13=PATH --out docs/runtime.json`. Real builds
take packages from the index that this machine is set up for (3 GB a build, and again for pip), and CPython
from the one named, packed as uv's own are. Needs 30 GB in `--where`, and root for the small filesystems.
`--only` plays some parts and keeps the others' figures. Exit 1 when anything half done, changed or cut passed
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
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bootstrap.runtime.presets import locks
from nightshift.catalog.runtimes import NEWEST, RUNTIMES
from tests.bootstrap.runtime.support.hardship import Outcome, full_disks, kills, measured_s, sealed, tampering
from tests.bootstrap.runtime.support.lane import Lane, lane, told
from tests.campaigns.runtime_real import real, say


def hardship(names: Sequence[str], where: Path, scale: float, seed: int) -> Iterator[tuple[str, Outcome]]:
    """The named parts, on a small runtime made from nothing but this machine."""
    if not names:
        return
    with lane(where) as made:
        made.make(where / "first")
        for number, name in enumerate(names):
            say(name)
            yield name, HARDSHIPS[name](made, scale, random.Random(seed + number), where / f"part-{number}")


def _killed(made: Lane, scale: float, chance: random.Random, where: Path, fresh: bool) -> Outcome:
    longest = measured_s(made, where, fresh)
    return kills(made, max(1, int((20 if fresh else 40) * scale)), longest, chance, where, fresh)


def _full(made: Lane, scale: float, chance: random.Random, where: Path, fresh: bool) -> Outcome:
    size = sealed(made.folders(made.base / "first")).size
    rounds = max(1, int((10 if fresh else 20) * scale))
    return full_disks(made, [int(size * chance.uniform(0.01, 0.95)) for _ in range(rounds)], where, fresh)


def _tampered(made: Lane, scale: float, chance: random.Random, where: Path) -> Outcome:
    return tampering(made, where, max(9, int(90 * scale)), chance)


def _together(made: Lane, scale: float, chance: random.Random, base: Path) -> Outcome:
    """Two processes on one node and one on another, at the same time, with an empty bucket."""
    outcome = Outcome()
    for number in range(max(1, int(10 * scale))):
        made.pack.unlink(missing_ok=True)
        outcome.rounds += 1
        roots = [base / f"{number}-{name}" for name in ("one", "one", "two")]
        ends = sorted(str(told(each)["how"]) for each in [made.start(root) for root in roots])
        outcome.counts[", ".join(ends)] += 1
        if ends.count("stood") != 1 or len(list((made.base / "bucket").iterdir())) != 1:
            outcome.problems.append(f"{ends}, {list((made.base / 'bucket').iterdir())}")
        shutil.rmtree(base)
    return outcome


HARDSHIPS: Mapping[str, Callable[[Lane, float, random.Random, Path], Outcome]] = {
    "killed while unpacking": partial(_killed, fresh=False),
    "killed while building": partial(_killed, fresh=True),
    "disk full while unpacking": partial(_full, fresh=False),
    "disk full while building": partial(_full, fresh=True),
    "tampered with": _tampered,
    "two at once": _together,
}


def _python(text: str) -> tuple[str, str]:
    minor, _, path = text.partition("=")
    return minor, path


def _parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.runtime")
    parser.add_argument("--python", type=_python, action="append", default=[], metavar="MINOR=PATH")
    parser.add_argument("--only", choices=[*locks(), *HARDSHIPS], action="append")
    parser.add_argument("--rounds", type=int, default=2, help="builds of the newest preset beside pip")
    parser.add_argument("--scale", type=float, default=1.0, help="of the rounds of hardship")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--where", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Writes the figures after each part."""
    given = _parsed(arguments)
    parts, pythons, problems = given.only or [*HARDSHIPS, *locks()], dict(given.python), 0
    figures: dict[str, object] = json.loads(given.out.read_text()) if given.out.exists() else {}
    figures["machine"] = f"Linux {platform.release()}, {os.cpu_count()} cores"

    def write(name: str, found: object) -> None:
        figures[name] = found
        given.out.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n", encoding="utf-8")

    hard = [name for name in parts if name in HARDSHIPS]
    with _folder(given.where) as where:
        for name, outcome in hardship(hard, where, given.scale, given.seed):
            problems += len(outcome.problems)
            say(f"{name}: {outcome}")
            write(name, outcome.figures())
    for name in (name for name in parts if name not in HARDSHIPS):
        rounds = given.rounds if name == NEWEST else 0
        with _folder(given.where) as where:
            say(name)
            write(name, real(name, pythons[RUNTIMES[name].python], where, rounds))
    return 1 if problems else 0


@contextmanager
def _folder(where: Path) -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="runtime-", dir=where) as made:
        yield Path(made)


if __name__ == "__main__":
    sys.exit(main())

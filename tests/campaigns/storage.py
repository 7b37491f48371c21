"""Storage in full: many devices, many crashes, many cut formats, many pairs of nodes. Root, one JSON out.

`python -m tests.campaigns.storage --out docs/storage.json` plays everything on real loop devices with real
ext4 and xfs; `--only crashes` one part. Exit 1 when a single round lost, overwrote
something or hung.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nightshift.emulator.cloud.process import start_cloud
from nightshift.emulator.sandbox.devices import GIB, sh
from tests.bootstrap.storage.support.bench import Bench, Filesystem, bench, wish
from tests.bootstrap.storage.support.crash import How, boot_again, clear, crash, lost, reflink_host
from tests.bootstrap.storage.support.cut import Witness, attach_until_death, next_node
from tests.bootstrap.storage.support.machine import reason_to_skip
from tests.bootstrap.storage.support.pair import pair, together

BOTH: tuple[Filesystem, ...] = ("xfs", "ext4")
HOWS: tuple[How, ...] = ("shutdown", "frozen")


@dataclass
class Part:
    """One part's figures; `problems` is empty when all held."""

    rounds: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def quantiles(values: list[float]) -> dict[str, float]:
    """p50, p99 and the longest, in seconds."""
    ordered = sorted(values) or [0.0]
    return {
        "p50": round(ordered[len(ordered) // 2], 3),
        "p99": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))], 3),
        "p100": round(ordered[-1], 3),
    }


def crashes(rounds: int, chance: random.Random) -> Part:
    """`rounds` crashes of each kind on each filesystem; and a tenth with a careless writer, as a control."""
    part, booted = Part(), []
    with reflink_host() as host:
        for filesystem in BOTH:
            for how in HOWS:
                with bench(where=host) as node:
                    assert node.attach(filesystem).ready
                    for number in range(rounds + rounds // 10):
                        careful = number < rounds
                        booted.append(_crash(node, filesystem, how, chance, careful, part))
    part.seconds = quantiles(booted)
    return part


def _crash(
    node: Bench, filesystem: Filesystem, how: How, chance: random.Random, careful: bool, part: Part
) -> float:
    last = crash(node, how, 0.15 * chance.random(), careful=careful)
    began = time.monotonic()
    boot_again(node, filesystem, how)
    seconds = time.monotonic() - began
    missing = lost(node, last)
    clear(node)
    kind = f"{filesystem} {how}"
    if not careful:
        part.counts[f"{kind}: careless, lost in"] += bool(missing)
        return seconds
    part.rounds += 1
    part.counts[f"{kind}: crashes"] += 1
    part.counts[f"{kind}: steps reported"] += last + 1
    part.counts[f"{kind}: steps lost"] += len(missing)
    if missing:
        part.problems.append(f"{kind}: lost {missing} of {last + 1}")
    return seconds


def formats(rounds: int, chance: random.Random) -> Part:
    """mkfs killed at a random moment, by power half the time, or the agent between its steps; then a boot."""
    part, booted = Part(), []
    for number in range(rounds):
        filesystem, power = BOTH[number % 2], number % 4 >= 2
        with bench() as node:
            witness = Witness(node.disk)
            at_write = chance.choice([None, None, None, 1, 2, 3])
            witness.die_after = None if at_write else 0.03 * chance.random()
            attach_until_death(node, filesystem, witness, at_write=at_write)
            began = time.monotonic()
            report = next_node(node, filesystem, witness, power=power)
            booted.append(time.monotonic() - began)
        part.rounds += 1
        part.counts[
            f"{'power' if power else 'killed'}: was {report.volumes[0].was}" if report.ready else "stuck"
        ] += 1
        part.problems += [f"{number} {filesystem}: {each.found}" for each in report.problems]
        part.problems += [f"{number} {filesystem}: {each}" for each in witness.overwrote]
    part.seconds = quantiles(booted)
    return part


def _filesystem(kind: str) -> Callable[[Bench, random.Random], None]:
    return lambda node, _: (sh(f"mkfs.{kind}", "-q", node.disk.loop), None)[1]


def _partitioned(table: str) -> Callable[[Bench, random.Random], None]:
    def put(node: Bench, _: random.Random) -> None:
        text = f"label: {table}\n,,\n"
        command = ["sfdisk", "-q", node.disk.loop]
        subprocess.run(command, input=text, text=True, check=True, capture_output=True)

    return put


def _random(node: Bench, chance: random.Random) -> None:
    size = chance.choice([1 << 20, 4 << 20, 16 << 20])
    node.disk.write(chance.randrange(0, (GIB - size) // 4096) * 4096, os.urandom(size))


def _headless(kind: str) -> Callable[[Bench, random.Random], None]:
    """A filesystem whose beginning was lost: only its copies of the superblock are left."""

    def put(node: Bench, _: random.Random) -> None:
        sh(f"mkfs.{kind}", "-q", node.disk.loop)
        node.disk.write(0, bytes(4 << 20))

    return put


THINGS: dict[str, Callable[[Bench, random.Random], None]] = {
    "ext2": _filesystem("ext2"),
    "swap": lambda node, _: (sh("mkswap", node.disk.loop), None)[1],
    "gpt": _partitioned("gpt"),
    "dos": _partitioned("dos"),
    "random bytes": _random,
    "xfs without head": _headless("xfs"),
    "ext4 without head": _headless("ext4"),
    "xfs": _filesystem("xfs"),
    "ext4": _filesystem("ext4"),
}


def devices(rounds: int, chance: random.Random) -> Part:
    """Devices with anything on them, declared blank by us: no mkfs ever, no byte changed unless mounted."""
    part, took = Part(), []
    for number in range(rounds):
        what = list(THINGS)[number % len(THINGS)]
        filesystem = BOTH[chance.randrange(2)]
        with bench() as node:
            THINGS[what](node, chance)
            before, witness = node.disk.content(), Witness(node.disk)
            report = node.attach(filesystem, place=replace(node.place(), run=witness))
            took.append(report.seconds)
            touched = node.disk.content() != before and not report.ready
        part.rounds += 1
        part.counts[f"{what}: {'mounted' if report.ready else 'refused'}"] += 1
        if witness.made or touched or report.ready != (what == filesystem):
            part.problems.append(f"{number} {what} as {filesystem}: mkfs {witness.made}, touched {touched}")
    part.seconds = quantiles(took)
    return part


def pairs(rounds: int, chance: random.Random) -> Part:
    """Two nodes, two volumes, opposite wishes, at once, on the emulated AWS; a seed each."""
    part, lives = Part(), []
    there, back = [wish("imagenet"), wish("runs")], [wish("runs"), wish("imagenet")]
    with start_cloud() as cloud:
        for _ in range(rounds):
            seed = chance.randrange(1 << 30)
            with pair(cloud) as site:
                for name in ("imagenet", "runs"):
                    site.volume(name)
                stays = together(site, [there, back], seed)
                spans = len(site.held.spans)
            lives += [stay.seconds for stay in stays]
            part.rounds += 1
            fine = all(stay.report is not None and stay.report.ready and stay.clean for stay in stays)
            part.counts["both had both"] += fine and spans == 4
            if not fine or spans != 4:
                part.problems.append(f"seed {seed}: {[(stay.error, stay.report) for stay in stays]}")
    part.seconds = quantiles(lives)
    return part


PARTS: dict[str, tuple[Callable[[int, random.Random], Part], int]] = {
    "crashes": (crashes, 100),
    "formats": (formats, 120),
    "devices": (devices, 180),
    "pairs": (pairs, 30),
}


def main() -> int:
    """0 when all held, 1 when something didn't, 2 when this machine can't."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--rounds", type=int, help="instead of each part's own number")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if reason := reason_to_skip():
        print(reason, file=sys.stderr)
        return 2
    result: dict[str, Any] = {"seed": given.seed}
    if given.out and given.out.exists():
        result = json.loads(given.out.read_text())
    for name, (play, rounds) in PARTS.items():
        if given.only in (None, name):
            began = time.monotonic()
            part = play(given.rounds or rounds, random.Random(given.seed))
            result[name] = {**vars(part), "took_s": round(time.monotonic() - began)}
            print(f"{name}: {part.rounds} rounds, {len(part.problems)} problems", file=sys.stderr)
    text = json.dumps(result, indent=1, sort_keys=True) + "\n"
    print(text, end="")
    if given.out:
        given.out.write_text(text)
    return int(any(part["problems"] for part in result.values() if isinstance(part, dict)))


if __name__ == "__main__":
    sys.exit(main())

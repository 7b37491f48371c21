"""Drains in full: real agents, real training, a real volume; planned and spot, stuck, twice, during boot.

`python -m tests.campaigns.drains --out docs/drains.json` plays everything in nodes of the sandbox (root);
`--only spot` one part, `--rounds N` another number of rounds. `--join FILE ...` plays nothing, and puts the
rounds of several runs (each with its own `--seed`) together. Exit 1 when a round left a volume mounted, lost
a step, or took longer than it may.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from nightshift.emulator.cloud.process import start_cloud
from nightshift.emulator.sandbox.network import reason_to_skip
from tests.bootstrap.drain.support.ground import Ground, ground
from tests.bootstrap.drain.support.measure import MACHINE_GONE, Drained, How, drain, give_notice, judge

SPOT_S, STUCK_SPOT_S = 120.0, 40.0
BOOT_S = 8.0
"""A notice during boot comes at a random moment of this long."""


@dataclass
class Part:
    """One part's rounds; `problems` is empty when all held."""

    rounds: list[Drained] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, found: Drained, before: Drained | None = None, *, stuck: bool = False) -> Drained:
        """Judge a round and keep it."""
        judge(found, before, stuck=stuck)
        self.rounds.append(found)
        self.problems += [f"round {len(self.rounds)}: {each}" for each in found.problems]
        return found


class Played:
    """One site that all parts share, so that each run goes on from the one before."""

    def __init__(self, site: Ground, chance: random.Random) -> None:
        self.site, self.chance = site, chance
        self.last: Drained | None = None

    def planned(self, part: Part) -> None:
        """The group ends the node."""
        life = self.site.launch()
        life.trains(self.chance.randrange(1, 40))
        self.last = part.add(drain(self.site, life, "planned"), self.last)

    def spot(self, part: Part) -> None:
        """EC2 takes the node back."""
        life = self.site.launch()
        life.trains(self.chance.randrange(1, 40))
        self.last = part.add(drain(self.site, life, "spot", SPOT_S), self.last)

    def twice(self, part: Part) -> None:
        """A planned end, and EC2's notice while it drains; then every notice once more."""
        life = self.site.launch()
        life.trains()
        give_notice(self.site, life, "planned")
        life.says("notice (end)")
        self.last = part.add(drain(self.site, life, "spot", SPOT_S), self.last)
        asked = life.words.count("nightshift: drain step=")
        if asked != 1:
            part.problems.append(f"round {len(part.rounds)}: the job drained {asked} times")

    def stuck(self, part: Part) -> None:
        """A worker that hears nothing: planned and spot in turn. Of this node's steps nothing is saved."""
        how: How = "planned" if len(part.rounds) % 2 else "spot"
        life = self.site.launch()
        life.trains()
        self.site.stuck.touch()
        time.sleep(1)
        try:
            found = part.add(drain(self.site, life, how, STUCK_SPOT_S), self.last, stuck=True)
        finally:
            self.site.stuck.unlink()
        self.last = found if found.step else self.last

    def boot(self, part: Part) -> None:
        """A notice at a random moment of the boot: nothing is left behind."""
        life = self.site.launch()
        time.sleep(BOOT_S * self.chance.random())
        how: How = "planned" if self.chance.random() < 0.5 else "spot"
        found = drain(self.site, life, how, SPOT_S)
        trained = found.outcome is not None and found.saved
        judge_boot(found)
        part.rounds.append(found)
        part.problems += [f"round {len(part.rounds)}: {each}" for each in found.problems]
        if trained and found.step:
            self.last = found

    def killed(self, part: Part) -> None:
        """The agent gets SIGKILL while the job trains; the next one goes on, and drains. SIGTERM ends it."""
        life = self.site.launch()
        life.trains()
        os.kill(life.process.pid, signal.SIGKILL)
        life.process.wait()
        again = self.site.start_agent(life.node)
        again.says("generation 1 launched here")
        again.trains(1)
        found = drain(self.site, again, "planned")
        self.last = part.add(found)


def judge_boot(found: Drained) -> None:
    """A node that has trained nothing may have nothing to save."""
    if found.code not in (0, MACHINE_GONE):
        found.problems.append(f"the agent ended with {found.code}")
    if found.unmounted is not None and found.unmounted > found.gone:
        found.problems.append("the volume was still mounted when the agent ended")


def quantiles(values: list[float]) -> dict[str, float]:
    """p50, p99 and the longest, in seconds."""
    ordered = sorted(values)
    if not ordered:
        return {}
    return {
        "p50": round(ordered[len(ordered) // 2], 2),
        "p99": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))], 2),
        "p100": round(ordered[-1], 2),
    }


def figures(part: Part) -> dict[str, Any]:
    """Of one part, for the page."""
    rounds = part.rounds
    names = sorted({name for each in rounds for name in each.steps})
    return {
        "rounds": len(rounds),
        "problems": part.problems,
        "checkpoint_s": quantiles([each.outcome for each in rounds if each.outcome is not None]),
        "unmounted_s": quantiles([each.unmounted for each in rounds if each.unmounted is not None]),
        "gone_s": quantiles([each.gone for each in rounds]),
        "steps_s": {
            name: quantiles([each.steps[name] for each in rounds if name in each.steps]) for name in names
        },
        "each": [asdict(each) for each in rounds],
    }


PARTS: dict[str, tuple[Callable[[Played, Part], None], int]] = {
    "planned": (Played.planned, 50),
    "spot": (Played.spot, 50),
    "twice": (Played.twice, 5),
    "stuck": (Played.stuck, 6),
    "boot": (Played.boot, 20),
    "killed": (Played.killed, 5),
}


def play(wanted: dict[str, int], seed: int, keep: Callable[[dict[str, Part]], None]) -> dict[str, Part]:
    """Rounds of all parts in turn on one site, so that each meets the same load."""
    parts = {name: Part() for name in wanted}
    with start_cloud() as cloud, ground(cloud) as site:
        played = Played(site, random.Random(seed))
        for turn in range(max(wanted.values())):
            for name, part in parts.items():
                if turn * wanted[name] // max(wanted.values()) < len(part.rounds):
                    continue
                began = time.monotonic()
                PARTS[name][0](played, part)
                keep(parts)
                fine = part.problems[-1:] or "fine"
                print(f"{name} {len(part.rounds)}, {time.monotonic() - began:.0f} s: {fine}", file=sys.stderr)
    return parts


def join(files: list[Path]) -> dict[str, Part]:
    """The rounds of several runs."""
    parts: dict[str, Part] = {}
    for told in (json.loads(file.read_text()) for file in files):
        for name in PARTS:
            part = parts.setdefault(name, Part())
            part.rounds += [Drained(**each) for each in told.get(name, {}).get("each", ())]
            part.problems += told.get(name, {}).get("problems", ())
    return parts


def main() -> int:
    """0 when all held, 1 when something didn't, 2 when this machine can't."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--rounds", type=int, help="instead of each part's own number")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--join", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.join:
        return _write(join(given.join), given.out)
    if reason := reason_to_skip():
        print(reason, file=sys.stderr)
        return 2
    wanted = {name: given.rounds or PARTS[name][1] for name in given.only or PARTS}
    return _write(play(wanted, given.seed, lambda parts: _keep(parts, given.out)), given.out)


def _keep(parts: dict[str, Part], out: Path | None) -> None:
    if out:
        told = {name: figures(part) for name, part in parts.items()}
        out.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n")


def _write(parts: dict[str, Part], out: Path | None) -> int:
    """Print the figures; 1 when there is a problem."""
    _keep(parts, out)
    shown = {name: {**figures(part), "each": "..."} for name, part in parts.items()}
    print(json.dumps(shown, indent=1))
    problems = [f"{name}: {each}" for name, part in parts.items() for each in part.problems]
    print(*problems, sep="\n", file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())

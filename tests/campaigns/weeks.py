"""Seeded weeks with faults on every shipped stack: no rule may break, and every fault must end as it must.

Run as `python -m tests.campaigns.weeks --out docs/rehearsal.json`, a minute or two. Each run has its own
seed, stack, start and one to six faults. Exit 1 on a broken run, told with the command that replays it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from nightshift.rehearsal.control.dice import between
from nightshift.rehearsal.faults.parse import parse
from nightshift.rehearsal.story import FaultEnd, Story
from nightshift.rehearsal.weeks import Plan, rehearse, shrink
from tests.rehearsal.support.record import SHIPPED, recorded
from tests.rehearsal.support.sites import DAY, MONDAY
from tests.rehearsal.support.stacks import shipped

MOST_FAULTS = 6
DAYS = 14


@dataclass
class Result:
    """What the runs came to."""

    runs: int = 0
    days: int = 0
    nodes: int = 0
    checks: int = 0
    faults: int = 0
    struck: int = 0
    steps_trained: int = 0
    steps_lost: int = 0
    most_lost_at_once: int = 0
    two_writer_seconds: int = 0
    unexplained_cents: float = 0.0
    seconds: float = 0.0
    by_kind: dict[str, dict[str, int]] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)


def wanted(seed: int) -> tuple[str, Plan]:
    """The stack and the plan of one run; starts are spread over a year, changes of clocks included."""
    start = MONDAY + DAY * between(0, 364, seed, "start")
    faults = between(1, MOST_FAULTS, seed, "count")
    return SHIPPED[seed % len(SHIPPED)], Plan(start, start + DAYS * DAY, seed, (), faults)


def play(seed: int, result: Result) -> None:
    """One run, added to the result."""
    name, plan = wanted(seed)
    story = rehearse(shipped(name), recorded(name), plan)
    result.runs += 1
    result.days += DAYS
    result.nodes += len(story.nodes)
    result.checks += sum(rule.checked for rule in story.invariants)
    result.steps_trained += story.steps_trained
    result.steps_lost += story.steps_lost
    result.two_writer_seconds += story.two_writer_seconds
    result.unexplained_cents = max(result.unexplained_cents, _unexplained(story))
    for end in story.faults:
        _add(result, end)
    if not story.ok:
        result.broken.append(_told(name, plan, story))


def _unexplained(story: Story) -> float:
    bill = story.bill
    apart = bill.usd - bill.forecast_usd - sum(one.usd for one in bill.differences)
    minutes = bill.billed_minutes - bill.forecast_minutes - sum(one.minutes for one in bill.differences)
    return round(abs(apart) * 100 + abs(minutes), 6)


def _add(result: Result, end: FaultEnd) -> None:
    result.faults += 1
    result.struck += end.struck is not None
    result.most_lost_at_once = max(result.most_lost_at_once, end.steps_lost)
    kind = end.fault.split("@")[0]
    row = result.by_kind.setdefault(kind, {"given": 0, "struck": 0, "steps_lost": 0})
    row["given"] += 1
    row["struck"] += end.struck is not None
    row["steps_lost"] += end.steps_lost


def _told(name: str, plan: Plan, story: Story) -> str:
    """What broke, with the fewest faults that still break it."""
    if not story.broken:
        bad = next(end for end in story.faults if not end.ok)
        return f"{bad.fault} ended: {bad.ended}; {story.replay}"
    faults = parse([end.fault for end in story.faults])
    fewest = shrink(shipped(name), recorded(name), plan, faults)
    names = ",".join(fault.name for fault in fewest)
    return f"{story.broken[0].rule}: {story.broken[0].says}; fewest: {names}; {story.replay}"


def main() -> int:
    """Play them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    began, result = time.perf_counter(), Result()
    for seed in range(given.seed, given.seed + given.runs):
        play(seed, result)
    result.seconds = round(time.perf_counter() - began, 1)
    result.by_kind = {kind: dict(Counter(row)) for kind, row in sorted(result.by_kind.items())}
    text = json.dumps(asdict(result), indent=1)
    print(text)
    if given.out is not None:
        given.out.write_text(text + "\n", encoding="utf-8")
    return 1 if result.broken else 0


if __name__ == "__main__":
    sys.exit(main())

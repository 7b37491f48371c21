"""Speed of the program: stacks of 10, 50 and 200 groups, next to the same resources declared raw.

Both run under mocks in one process, taking turns: `python -m benchmarks.program`. The raw twin is made from
what the program registered: the same classes, inputs, references and dependencies, without components,
decisions or specs. Prints JSON; exit 1 above 1.2 of the twin's time, or when time per resource grows.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi

from bootstrap.artifact import Artifact
from infra.decide import decide
from infra.program import Site, compose
from nightshift.settings import Stack, from_config
from tests.infra.recorder import Recorded, deploy
from tests.infra.support.samples import LAB, nothing_alive

SIZES = (10, 50, 200)
LIMIT = 1.2
GROWTH = 1.3
"""Most that time per resource may grow from the smallest to the largest stack: noise, not a square.

Taken with Python's garbage collector off: its passes over a growing heap cost both sides more.
"""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def stack_of(groups: int) -> Stack:
    """The lab's training group so many times, each with a volume of its own."""
    vit = LAB["nightshift:groups"]["vit"]
    names = [f"g{index}" for index in range(groups)]
    volumes = names[:100]
    return from_config(
        {
            **LAB,
            "nightshift:volumes": {name: {"size_gib": 100} for name in volumes},
            "nightshift:snapshots": {},
            "nightshift:groups": {
                name: {**vit, "volumes": [name] if name in volumes else []} for name in names
            },
        },
        "lab",
    )


def ours(stack: Stack) -> Callable[[], object]:
    """Decide and declare, as `pulumi up` does after reading."""
    artifact = Artifact(Path(__file__), "0" * 64, 1)
    user_data = dict.fromkeys(stack.groups, "dXNlcg==")
    live = nothing_alive()
    return lambda: compose(Site(stack, live, decide(stack, live), artifact, user_data))


@dataclass(frozen=True)
class Raw:
    """One resource of the twin. `inputs` name other resources' outputs as (resource, output)."""

    make: Callable[..., pulumi.CustomResource]
    name: str
    inputs: dict[str, Any]
    after: tuple[str, ...]


@dataclass(frozen=True)
class Reference:
    """An output of another resource."""

    name: str
    output: str


def twin(recorded: list[Recorded]) -> list[Raw]:
    """The program's resources, in the order in which they were registered."""
    custom = [each for each in recorded if each.request.custom]
    known: dict[object, Reference] = {}
    made = []
    for each in custom:
        references: set[str] = set()
        inputs = {
            _CAMEL.sub("_", key).lower(): _linked(value, known, references)
            for key, value in each.inputs.items()
        }
        after = tuple(name for name in each.depends_on if name not in references)
        made.append(Raw(_class(each.type), each.name, inputs, after))
        known[each.id] = Reference(each.name, "id")
        if each.type.endswith((":Group", ":Role")):
            known[each.inputs["name"]] = Reference(each.name, "name")
    return made


def _linked(value: Any, known: dict[object, Reference], references: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: _linked(item, known, references) for key, item in value.items()}
    if isinstance(value, list):
        return [_linked(item, known, references) for item in value]
    found = known.get(value) if isinstance(value, str) else None
    if found:
        references.add(found.name)
    return found or value


def _class(token: str) -> Callable[..., pulumi.CustomResource]:
    """`aws:ec2/vpc:Vpc` -> pulumi_aws.ec2.Vpc."""
    module, name = token.split(":")[1].split("/")[0], token.split(":")[2]
    return getattr(importlib.import_module(f"pulumi_aws.{module}"), name)


def declare(twins: list[Raw]) -> None:
    """Declare the twin."""
    made: dict[str, pulumi.CustomResource] = {}
    for raw in twins:
        after = [made[name] for name in raw.after if name in made]
        made[raw.name] = raw.make(
            raw.name,
            **{key: _resolved(value, made) for key, value in raw.inputs.items()},
            opts=pulumi.ResourceOptions(depends_on=after or None),
        )


def _resolved(value: Any, made: dict[str, pulumi.CustomResource]) -> Any:
    if isinstance(value, Reference):
        return getattr(made[value.name], value.output)
    if isinstance(value, dict):
        return {key: _resolved(item, made) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolved(item, made) for item in value]
    return value


def seconds(program: Callable[[], object]) -> float:
    """CPU seconds of one run under mocks; other processes on the machine don't count."""
    gc.collect()
    start = time.process_time()
    deploy(program)
    return time.process_time() - start


def uncollected(program: Callable[[], object]) -> float:
    """The same with the garbage collector off."""
    gc.disable()
    try:
        return seconds(program)
    finally:
        gc.enable()


def measure(groups: int, rounds: int) -> dict[str, float]:
    """The best of each, taking turns, and the median of the ratios."""
    stack = stack_of(groups)
    program = ours(stack)
    recorded = deploy(program).recorded
    twins = twin(recorded)
    pairs = [(seconds(program), seconds(lambda: declare(twins))) for _ in range(rounds)]
    return {
        "groups": groups,
        "resources": len(twins),
        "ours_s": round(min(mine for mine, _ in pairs), 3),
        "raw_s": round(min(theirs for _, theirs in pairs), 3),
        "each_ms_uncollected": round(1000 * min(uncollected(program) for _ in range(rounds)) / len(twins), 2),
        "ratio": round(statistics.median(mine / theirs for mine, theirs in pairs), 3),
    }


def problems(runs: list[dict[str, float]]) -> Iterator[str]:
    """What is slower than it may be."""
    for run in runs:
        if run["ratio"] > LIMIT:
            yield f"{run['groups']} groups: {run['ratio']} of the raw time, at most {LIMIT}"
    small, large = runs[0]["each_ms_uncollected"], runs[-1]["each_ms_uncollected"]
    if large > GROWTH * small:
        yield f"time per resource grows from {small} ms to {large} ms"


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    asked = parser.parse_args()
    runs = [measure(groups, asked.rounds) for groups in asked.sizes]
    found = list(problems(runs))
    print(json.dumps({"cpus": os.cpu_count(), "runs": runs, "problems": found}, indent=1))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

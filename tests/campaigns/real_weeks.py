"""Nights of a deployed site on real nodes with faults that a seed chooses: every rule must hold.

`python -m tests.campaigns.real_weeks --runs 50 --out docs/real-weeks.json` plays them one after the other in
the sandbox (root); `--first N` begins with another seed, `--days`, `--faults` say how long and how many.
Exit 1 when a rule broke or a fault didn't end as it must.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from nightshift.rehearsal.real.able import reason_to_model
from nightshift.rehearsal.story import Story
from tests.rehearsal.real.support.ground import ground
from tests.rehearsal.real.support.manifests import manifest


def row(story: Story, seed: int, seconds: float) -> dict[str, Any]:
    """One run's figures."""
    return {
        "seed": seed,
        "seconds": round(seconds, 1),
        "faults": [fault.fault for fault in story.faults],
        "ended": [fault.ended for fault in story.faults],
        "ok": story.ok,
        "broken": [f"{one.rule}: {one.says}" for one in story.broken],
        "real_nodes": story.real_nodes,
        "steps_trained": story.steps_trained,
        "steps_lost": story.steps_lost,
        "two_writer_seconds": story.two_writer_seconds,
        "boot_s": [phase.end - phase.start for node in story.nodes for phase in node.phases[:1]],
        "drain_s": [
            phase.end - phase.start for node in story.nodes for phase in node.phases if phase.phase == "drain"
        ],
    }


def one(seed: int, days: int, faults: int) -> dict[str, Any]:
    """A site of its own for one seed. What goes wrong beside the rules is told as a break."""
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory() as folder, ground(Path(folder)) as site:
            return row(site.play(days, seed, faults), seed, time.monotonic() - began)
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        return {"seed": seed, "seconds": round(time.monotonic() - began, 1), "ok": False, "broken": [told]}


def summed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """All runs together."""
    kinds = Counter(name.partition("@")[0] for each in rows for name in each.get("faults", ()))
    return {
        "runs": len(rows),
        "held": sum(each["ok"] for each in rows),
        "real_nodes": sum(each.get("real_nodes", 0) for each in rows),
        "steps_trained": sum(each.get("steps_trained", 0) for each in rows),
        "steps_lost": sum(each.get("steps_lost", 0) for each in rows),
        "two_writer_seconds": sum(each.get("two_writer_seconds", 0) for each in rows),
        "faults": dict(sorted(kinds.items())),
        "seconds": round(sum(each["seconds"] for each in rows)),
        "cores": os.cpu_count(),
        "each": rows,
    }


def page(told: dict[str, Any]) -> str:
    """The figures for people."""
    kinds = ", ".join(f"{count} {name}" for name, count in told["faults"].items())
    lines = [
        "# Weeks on real nodes, with faults",
        "",
        f"`python -m tests.campaigns.real_weeks`: {told['held']} of {told['runs']} runs held every rule; "
        f"{told['real_nodes']} real nodes trained {told['steps_trained']} steps and lost "
        f"{told['steps_lost']}; {told['two_writer_seconds']} seconds with two writers of a volume; "
        f"{told['seconds'] // 60} minutes on {told['cores']} cores. Faults: {kinds}.",
        "",
        "| seed | held | nodes | steps | lost | seconds | faults and how each ended |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in told["each"]:
        ends = "; ".join(
            f"{name}: {says}"
            for name, says in zip(each.get("faults", ()), each.get("ended", ()), strict=True)
        )
        held = "yes" if each["ok"] else f"no: {'; '.join(each['broken'])[:200]}"
        cells = [each.get(key, "") for key in ("real_nodes", "steps_trained", "steps_lost", "seconds")]
        lines.append(f"| {each['seed']} | {held} | {' | '.join(map(str, cells))} | {ends} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """0 when all held, 1 when one didn't, 2 when this machine can't."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--days", type=int, default=2)
    parser.add_argument("--faults", type=int, default=2, help="in each run")
    parser.add_argument("--out", type=Path, help="JSON file for the figures; a page goes beside it")
    given = parser.parse_args()
    if reason := reason_to_model(manifest()):
        print(reason, file=sys.stderr)
        return 2
    rows: list[dict[str, Any]] = []
    for seed in range(given.first, given.first + given.runs):
        rows.append(one(seed, given.days, given.faults))
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
        if given.out:
            told = summed(rows)
            given.out.write_text(json.dumps(told, indent=1) + "\n")
            given.out.with_suffix(".md").write_text(page(told))
    held = sum(each["ok"] for each in rows)
    print(f"{held} of {len(rows)} runs held every rule")
    return int(held < len(rows))


if __name__ == "__main__":
    sys.exit(main())

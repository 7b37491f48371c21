"""Boots of a deployed site from an empty root, with everything failing in turn.

Real bash runs the user data of a launch template, real processes the agent; the machine is a recorded one.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bootstrap.artifact import build
from nightshift.emulator.cloud import start_cloud
from nightshift.emulator.sandbox.network import Network, reason_to_skip
from tests.emulator.sandbox.support.lane import Lane, Row, Scenario
from tests.emulator.sandbox.support.scenarios import all_scenarios


def play(
    scenarios: Sequence[Scenario], lanes: int, folder: Path, within_s: float = float("inf")
) -> list[Row]:
    """Every scenario once, several at a time; rows in the order of the scenarios.

    None is begun after `within_s` seconds; those have no row.
    """
    until = time.monotonic() + within_s
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in sorted(range(len(scenarios)), key=lambda each: -scenarios[each].limit_s):
        waiting.put(number)
    rows: dict[int, Row] = {}
    with start_cloud() as cloud, Network(cloud=cloud.endpoint) as net:
        artifact = build()
        made = [Lane(cloud, net, artifact, folder) for _ in range(lanes)]
        threads = [
            threading.Thread(target=_run, args=(lane, scenarios, waiting, rows, until)) for lane in made
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert net.volumes is not None
        for wrong in net.volumes.wrongs:
            print(f"a volume taken from under a node: {wrong}", file=sys.stderr)
    return [rows[number] for number in sorted(rows)]


def _run(
    lane: Lane,
    scenarios: Sequence[Scenario],
    waiting: queue.SimpleQueue[int],
    rows: dict[int, Row],
    until: float,
) -> None:
    while time.monotonic() < until:
        try:
            number = waiting.get_nowait()
        except queue.Empty:
            return
        scenario = scenarios[number]
        try:
            row = lane.play(scenario)
        except Exception as error:
            row = Row(scenario.name, scenario.kind, list(scenario.outcomes), "none")
            row.problem = f"{type(error).__name__}: {error}"
        rows[number] = row
        mark = "ok   " if row.right else "WRONG"
        print(
            f"{mark} {row.seconds:6.1f} s  {row.name}: {row.outcome} {row.problem} | {row.reason[:120]}",
            flush=True,
        )


def earlier(file: Path | None) -> tuple[dict[str, Row], float]:
    """The rows of an earlier run by name, and how long it took."""
    if file is None:
        return {}, 0.0
    told = json.loads(file.read_text())
    return {each["name"]: Row(**each) for each in told["rows"]}, float(told["seconds"])


def summary(rows: Sequence[Row], scenarios: int, seconds: float) -> dict[str, Any]:
    """Figures by kind, and every boot."""
    kinds: dict[str, Any] = {}
    for kind in dict.fromkeys(row.kind for row in rows):
        mine = [row for row in rows if row.kind == kind]
        times = sorted(row.seconds for row in mine)
        kinds[kind] = {
            "boots": len(mine),
            "right": sum(row.right for row in mine),
            "ends": dict(Counter(row.outcome for row in mine)),
            "p50_s": times[len(times) // 2],
            "p100_s": times[-1],
        }
    return {
        "scenarios": scenarios,
        "boots": len(rows),
        "right": sum(row.right for row in rows),
        "again": sum(bool(row.again) for row in rows),
        "silent": sum(row.outcome == "silent" for row in rows),
        "seconds": round(seconds),
        "cores": os.cpu_count(),
        "kinds": kinds,
        "rows": [row.data() for row in rows],
    }


def page(told: dict[str, Any]) -> str:
    """The figures for people."""
    lines = [
        "# Boots with everything failing in turn",
        "",
        f"`python -m tests.campaigns.boots`: {told['boots']} of {told['scenarios']} boots in "
        f"{told['seconds'] // 60} minutes on {told['cores']} cores (the machine did other work too), "
        f"{told['right']} ended as they must, {told['silent']} in silence. {told['again']} of them had ended "
        "wrongly in an earlier run, and were played again after a mend.",
        "",
        "Each is a launch of a deployed site on the emulated AWS: bash runs the template's user data on an "
        "empty root in namespaces, the agent runs as its unit says, on a recorded g6.xlarge. ready: in "
        "service with a record; abandoned: ABANDON with a reason; off: the machine turned itself off; hook: "
        "the agent can say nothing, and AWS ends the launch at the hook's deadline.",
        "",
        "| what | boots | right | ends | p50 s | longest s |",
        "|---|---|---|---|---|---|",
    ]
    for kind, one in told["kinds"].items():
        ends = ", ".join(f"{count} {name}" for name, count in sorted(one["ends"].items()))
        lines.append(
            f"| {kind} | {one['boots']} | {one['right']} | {ends} | {one['p50_s']} | {one['p100_s']} |"
        )
    lines += ["", "| boot | ended | seconds | reason |", "|---|---|---|---|"]
    for row in told["rows"]:
        if row["kind"] not in ("one call, a while", "machine") or not row["right"]:
            reason = (row["problem"] or row["reason"]).replace("|", "/")[:160]
            lines.append(f"| {row['name']} | {row['outcome']} | {row['seconds']} | {reason} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0 when every boot ended as it must."""
    parser = argparse.ArgumentParser(prog="tests.campaigns.boots", description=__doc__)
    parser.add_argument("--out", type=Path, help="JSON file for the figures; a page goes beside it")
    parser.add_argument("--lanes", type=int, default=4, help="boots at a time")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin none after this long")
    parser.add_argument("--again", type=Path, help="play what went wrong or wasn't played in these figures")
    parser.add_argument("--only", default="", help="scenarios whose kind or name holds this")
    given = parser.parse_args(arguments)
    if reason := reason_to_skip():
        print(reason, file=sys.stderr)
        return 2
    before, spent = earlier(given.again)
    kept = {name: row for name, row in before.items() if row.right}
    chosen = [each for each in all_scenarios() if given.only in f"{each.kind}: {each.name}"]
    chosen = [each for each in chosen if each.name not in kept]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        rows = play(chosen, given.lanes, Path(folder), 60 * given.minutes)
    for row in rows:
        row.again = before[row.name].problem if row.name in before else ""
    every = {**kept, **{row.name: row for row in rows}}
    ordered = [every[each.name] for each in all_scenarios() if each.name in every]
    told = summary(ordered, len(chosen) + len(kept), spent + time.monotonic() - began)
    if given.out:
        given.out.write_text(json.dumps(told, indent=1) + "\n")
        given.out.with_suffix(".md").write_text(page(told))
    print(f"{told['right']} of {told['boots']} as they must")
    return 0 if told["right"] == told["boots"] else 1


if __name__ == "__main__":
    sys.exit(main())

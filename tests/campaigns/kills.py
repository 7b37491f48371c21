"""The CLI or the provider killed at random points of up and of destroy, then run again as the docs say.

`python -m tests.campaigns.kills --points 40 --seed 1 --jobs 3 --out docs/kills.json` plays 40 points of up,
40 of destroy and some with the state file lost, each on a cloud of its own. Exit 1 when a single one does not
converge. `--only up-7` plays one point again; it needs the same --points and --seed.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nightshift.emulator.engine.toolchain import Toolchain, ensure_toolchain
from tests.campaigns.kill_point import STORIES, Outcome, Point, Reference, point_of, reference, run_point


def all_points(points: int, seed: int, stacks: list[str]) -> list[Point]:
    """Points of every story, shuffled, so that a part of them is a fair sample.

    The stacks take turns, two points at a time, so that each meets a killed CLI and a killed provider. The
    first and the last lose their state.
    """
    planned = []
    for kind in STORIES:
        turns = [stacks[0], stacks[-1]] if kind.startswith("lost") else [s for s in stacks for _ in (1, 2)]
        number = len(turns) if kind.startswith("lost") else points
        planned += [
            point_of(f"{kind}-{index}", seed, index, number, turns[index % len(turns)])
            for index in range(number)
        ]
    random.Random(seed).shuffle(planned)
    return planned


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _play(toolchain: Toolchain, point: Point, wanted: Reference, keep: Path | None) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="nightshift-kills-") as name:
        try:
            outcome = run_point(toolchain, point, wanted, Path(name))
        except Exception:  # one broken point must be told, not end the campaign
            outcome = Outcome(point, problems=[traceback.format_exc()])
        if keep and outcome.problems:
            shutil.copytree(name, keep / point.id, symlinks=True, dirs_exist_ok=True)
    return outcome


def _line(outcome: Outcome) -> str:
    point = outcome.point
    verdict = (
        "ok" if not outcome.problems else "FAILED: " + " | ".join(each[:300] for each in outcome.problems[:6])
    )
    moment = f"{point.who} after {outcome.after_requests}/{outcome.of_requests} requests +{point.delay_s} s"
    return f"{point.id} {point.stack}: {moment}, {outcome.seconds.get('all', 0)} s: {verdict}"


def main() -> int:
    """Run it all; progress goes to stderr, the JSON to --out or stdout."""
    given = _arguments()
    began, toolchain = time.monotonic(), ensure_toolchain(_say)
    planned = _chosen(all_points(given.points, given.seed, given.stacks.split(",")), given.only, given.kinds)
    done = _played(given.out, planned) if given.resume else {}
    left = [point for point in planned if point.id not in done]
    report = {
        "seed": given.seed,
        "points_of_each": given.points,
        "provider": toolchain.provider_name,
        "provider_version": toolchain.provider_version,
        "engine_version": toolchain.pulumi_version,
    }
    for outcome in _campaign(toolchain, left, given.jobs, given.keep):
        done[outcome.point.id] = {**asdict(outcome), "ok": not outcome.problems}
        _say(f"[{len(done)}/{len(planned)}] {_line(outcome)}")
        if given.out:
            _write(given.out, report, done, time.monotonic() - began)
    bad = sorted(name for name, outcome in done.items() if not outcome["ok"])
    if not given.out:
        print(json.dumps({**report, "outcomes": list(done.values())}, indent=1))
    _say(f"{len(done)} points, {len(bad)} failed{': ' if bad else ''}{', '.join(bad)}")
    return 1 if bad or len(done) < len(planned) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=40, help="of up, and as many of destroy")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="points at a time")
    parser.add_argument("--stacks", default="lab,lab,lab,cluster", help="shipped stacks that take turns")
    parser.add_argument("--only", default="", help="ids of points, with commas")
    parser.add_argument("--kinds", default="", help="stories, with commas: " + ", ".join(STORIES))
    parser.add_argument("--keep", type=Path, help="folder that gets the files of failed points")
    parser.add_argument("--out", type=Path, help="written after every point")
    parser.add_argument("--resume", action="store_true", help="leave out what --out has as good")
    return parser.parse_args()


def _played(out: Path, planned: list[Point]) -> dict[str, dict[str, Any]]:
    """The good outcomes of an earlier run of the same points."""
    if not out.is_file():
        return {}
    known = {point.id: asdict(point) for point in planned}
    earlier = json.loads(out.read_text(encoding="utf-8"))["outcomes"]
    return {
        each["point"]["id"]: each
        for each in earlier
        if each["ok"] and each["point"] == known.get(each["point"]["id"])
    }


def _write(out: Path, report: dict[str, Any], done: dict[str, dict[str, Any]], seconds: float) -> None:
    bad = sorted(name for name, outcome in done.items() if not outcome["ok"])
    outcomes = sorted(done.values(), key=lambda each: each["point"]["id"])
    counted = {"points": len(done), "failed": bad, "seconds_of_this_run": round(seconds)}
    out.write_text(json.dumps({**report, **counted, "outcomes": outcomes}, indent=1) + "\n", encoding="utf-8")


def _chosen(planned: list[Point], only: str, kinds: str) -> list[Point]:
    wanted = set(only.split(",")) if only else {point.id for point in planned}
    stories = set(kinds.split(",")) if kinds else set(STORIES)
    chosen = [point for point in planned if point.id in wanted and point.kind in stories]
    if not chosen:
        raise SystemExit(f"no such point: {only} {kinds}; there are e.g. {planned[0].id}")
    return chosen


def _campaign(toolchain: Toolchain, planned: list[Point], jobs: int, keep: Path | None) -> Iterator[Outcome]:
    """Outcomes as they come."""
    with ThreadPoolExecutor(jobs) as pool:
        stacks = sorted({each.stack for each in planned})
        references = {stack: pool.submit(_reference, toolchain, stack) for stack in stacks}
        playing = [
            pool.submit(lambda each=point: _play(toolchain, each, references[each.stack].result(), keep))
            for point in planned
        ]
        for each in as_completed(playing):
            yield each.result()


def _reference(toolchain: Toolchain, stack: str) -> Reference:
    with tempfile.TemporaryDirectory(prefix="nightshift-kills-") as name:
        found = reference(toolchain, stack, Path(name))
    _say(
        f"undisturbed {stack}: {found.requests_up} changing requests up, {found.requests_destroy} to destroy"
    )
    return found


if __name__ == "__main__":
    sys.exit(main())

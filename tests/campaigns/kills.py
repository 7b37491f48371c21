"""The CLI or the provider killed at random points of up and of destroy, then run again as the docs say.

`python -m tests.campaigns.kills --points 40 --seed 1 --jobs 3 --out docs/kills.json` plays 40 points of up,
40 of destroy and some with the state file lost, each on a cloud of its own. Exit 1 when a single one does not
converge. `--only up-7` plays one point again; it needs the same --points and --seed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nightshift.emulator.engine.toolchain import Toolchain, ensure_toolchain
from tests.campaigns.kill_point import STORIES, Outcome, Point, Reference, point_of, reference, run_point

_LOST_POINTS = 3
"""Points of each story with a lost state."""


def all_points(points: int, seed: int, stacks: list[str]) -> list[Point]:
    """Points of every story; the stacks take turns."""
    planned = []
    for kind in STORIES:
        number = min(points, _LOST_POINTS) if kind.startswith("lost") else points
        planned += [
            point_of(f"{kind}-{index}", seed, index, number, stacks[index % len(stacks)])
            for index in range(number)
        ]
    return sorted(planned, key=lambda point: int(point.id.rsplit("-", 1)[1]))


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


def _as_json(outcome: Outcome) -> dict[str, Any]:
    return {**asdict(outcome), "ok": not outcome.problems}


def main() -> int:
    """Run it all; progress goes to stderr, the JSON to --out or stdout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=40, help="of up, and as many of destroy")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="points at a time")
    parser.add_argument("--stacks", default="lab,lab,lab,cluster", help="shipped stacks that take turns")
    parser.add_argument("--only", default="", help="ids of points, with commas")
    parser.add_argument("--kinds", default="", help="stories, with commas: " + ", ".join(STORIES))
    parser.add_argument("--keep", type=Path, help="folder that gets the files of failed points")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    began, toolchain = time.monotonic(), ensure_toolchain(_say)
    planned = _chosen(all_points(given.points, given.seed, given.stacks.split(",")), given.only, given.kinds)
    outcomes = _campaign(toolchain, planned, given.jobs, given.keep)
    bad = [outcome.point.id for outcome in outcomes if outcome.problems]
    result = {
        "seed": given.seed,
        "points": len(outcomes),
        "failed": bad,
        "seconds": round(time.monotonic() - began),
        "provider": toolchain.provider_name,
        "provider_version": toolchain.provider_version,
        "engine_version": toolchain.pulumi_version,
        "outcomes": [_as_json(outcome) for outcome in outcomes],
    }
    text = json.dumps(result, indent=1)
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)
    _say(f"{len(outcomes)} points, {len(bad)} failed{': ' if bad else ''}{', '.join(bad)}")
    return 1 if bad else 0


def _chosen(planned: list[Point], only: str, kinds: str) -> list[Point]:
    wanted = set(only.split(",")) if only else {point.id for point in planned}
    stories = set(kinds.split(",")) if kinds else set(STORIES)
    chosen = [point for point in planned if point.id in wanted and point.kind in stories]
    if not chosen:
        raise SystemExit(f"no such point: {only} {kinds}; there are {planned[0].id} to {planned[-1].id}")
    return chosen


def _campaign(toolchain: Toolchain, planned: list[Point], jobs: int, keep: Path | None) -> list[Outcome]:
    with ThreadPoolExecutor(jobs) as pool:
        references = {
            stack: pool.submit(_reference, toolchain, stack)
            for stack in sorted({each.stack for each in planned})
        }
        playing = [
            pool.submit(lambda each=point: _play(toolchain, each, references[each.stack].result(), keep))
            for point in planned
        ]
        outcomes = []
        for number, each in enumerate(playing, 1):
            outcomes.append(each.result())
            _say(f"[{number}/{len(planned)}] {_line(outcomes[-1])}")
    return outcomes


def _reference(toolchain: Toolchain, stack: str) -> Reference:
    with tempfile.TemporaryDirectory(prefix="nightshift-kills-") as name:
        found = reference(toolchain, stack, Path(name))
    _say(
        f"undisturbed {stack}: {found.requests_up} changing requests up, {found.requests_destroy} to destroy"
    )
    return found


if __name__ == "__main__":
    sys.exit(main())

"""Every property-based test with other seeds: what `make test` tries is the same each time, this is not.

Run as `python -m tests.campaigns.properties --seeds 20 --first 1`, a minute a seed. Exit 1 when a
property fails for a seed: the falsifying example is printed, and belongs into the test as an `@example`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

TIER = "hypothesis and not engine and not node and not gpu and not aws"


def command(seed: int, jobs: int) -> list[str]:
    """The properties of the fast tier, tried from this seed."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-n", str(jobs), "-m", TIER]
    return [*pytest, "--hypothesis-profile=search", f"--hypothesis-seed={seed}"]


def main() -> int:
    """Seed after seed; a failing one doesn't stop the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="how many seeds")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once")
    args = parser.parse_args()
    failed = []
    for seed in range(args.first, args.first + args.seeds):
        began = time.monotonic()
        done = subprocess.run(command(seed, args.jobs), capture_output=True, text=True)
        if done.returncode:
            failed.append(seed)
            print(done.stdout, done.stderr, sep="\n", flush=True)
        verdict = "failed" if done.returncode else "held"
        print(f"seed {seed}: {verdict} in {time.monotonic() - began:.0f} s", flush=True)
    print(f"{args.seeds - len(failed)} of {args.seeds} seeds held; failed: {failed or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())

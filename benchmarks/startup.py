"""How long `nightshift check` takes beside importing pulumi_aws with six services, as JSON.

    python benchmarks/startup.py [--rounds 7] [--stack lab]

Both run in fresh processes of this Python, in turn, so that a busy machine slows them alike. `ratio` is of
the medians of user plus system time; `ratio_wall` of the wall clock's. The bar is 0.15. The six services are
the ones that the program declares most of.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
BAR = 0.15
RESOURCES = {
    "autoscaling": "Group",
    "ec2": "LaunchTemplate",
    "iam": "Role",
    "s3": "Bucket",
    "dlm": "LifecyclePolicy",
    "cloudwatch": "MetricAlarm",
}
"""One resource a service: pulumi_aws loads a service when the first of its names is asked for."""
ENTRY = "from nightshift.cli.main import main; main()"
"""What the installed `nightshift` script runs."""
IMPORT = "import pulumi_aws as aws; " + "; ".join(f"aws.{one}.{name}" for one, name in RESOURCES.items())


CACHING = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Both sides run from cached bytecode, as they do for a user."""


def measure(command: Sequence[str]) -> tuple[float, float]:
    """CPU and wall seconds of one run. Raises CalledProcessError when it fails."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=CACHING, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def compare(rounds: int, stack: str) -> dict[str, object]:
    """The medians of `rounds` alternating runs after one that isn't counted."""
    ours = [sys.executable, "-c", ENTRY, "check", "--stack", stack]
    theirs = [sys.executable, "-c", IMPORT]
    taken = [(measure(ours), measure(theirs)) for _ in range(rounds + 1)][1:]
    ours_cpu, ours_wall = (statistics.median(run[0][at] for run in taken) for at in (0, 1))
    theirs_cpu, theirs_wall = (statistics.median(run[1][at] for run in taken) for at in (0, 1))
    return {
        "check": {"cpu_s": round(ours_cpu, 3), "wall_s": round(ours_wall, 3)},
        "import_pulumi_aws": {
            "cpu_s": round(theirs_cpu, 3),
            "wall_s": round(theirs_wall, 3),
            "services": list(RESOURCES),
        },
        "ratio": round(ours_cpu / theirs_cpu, 3),
        "ratio_wall": round(ours_wall / theirs_wall, 3),
        "bar": BAR,
        "rounds": rounds,
        "python": sys.version.split()[0],
    }


def main() -> int:
    """Print the comparison; status 1 above the bar."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--stack", default="lab")
    args = parser.parse_args()
    result = compare(args.rounds, args.stack)
    print(json.dumps(result, indent=2))
    return 0 if float(str(result["ratio"])) <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())

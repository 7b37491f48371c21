"""Our part of the launch campaign (see launches): every event once a round."""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from tests.bootstrap.launch.support.cluster import Hung, cluster
from tests.bootstrap.launch.support.figures import Figures
from tests.bootstrap.launch.support.hurting import Hurting

EVENTS = (("worker", "torchrun"), ("agent", "node", "leader", "notices"))
"""The quick ones in all rounds first."""


def main(file: str, rounds: str, limit_s: str, seed: str) -> None:
    """A round that hangs is a problem and gets a new cluster for the next ones."""
    figures, chance = Figures(Path(file)), random.Random(int(seed))
    left = [event for events in EVENTS for _ in range(int(rounds)) for event in events]
    while left and figures.passed_s < float(limit_s):
        with tempfile.TemporaryDirectory(prefix="ours-", ignore_cleanup_errors=True) as root:
            _play(figures, chance, Path(root), left, float(limit_s))
    figures.write()


def _play(figures: Figures, chance: random.Random, root: Path, left: list[str], limit_s: float) -> None:
    """Takes what it has played from `left`."""
    with cluster(root, 2) as two:
        hurting = Hurting(two, figures, chance)
        try:
            hurting.start()
            while left and figures.passed_s < limit_s:
                getattr(hurting, left.pop(0))()
                figures.write()
        except Hung as error:
            figures.problem(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])

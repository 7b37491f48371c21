"""A sample of the launch campaign: two nodes in namespaces, two blows, no hang."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest

from nightshift.emulator.sandbox.network import reason_to_skip
from tests.bootstrap.launch.support.cluster import cluster
from tests.bootstrap.launch.support.figures import Figures
from tests.bootstrap.launch.support.hurting import Hurting

REASON = reason_to_skip()
pytestmark = [pytest.mark.node, pytest.mark.skipif(REASON is not None, reason=str(REASON))]


def test_a_killed_worker_and_a_lost_leader_cost_seconds() -> None:
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="launch-") as root, cluster(Path(root), 2) as two:
        hurting = Hurting(two, figures, random.Random(1))
        hurting.start()
        hurting.worker()
        hurting.leader(back=False)
    assert figures.problems == []
    assert {event: len(seconds) for event, seconds in figures.seconds.items()} == {
        "launch, cold": 1,
        "a worker is killed": 1,
        "the leader is lost": 1,
    }

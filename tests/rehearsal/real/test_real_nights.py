"""Two nights of a deployed site on real nodes: the second goes on where the first was saved.

A sample of `python -m tests.campaigns.real_weeks`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nightshift.emulator.sandbox.place import MEMORY, PREFIX
from nightshift.rehearsal.real.able import reason_to_model
from tests.rehearsal.real.support.ground import ground
from tests.rehearsal.real.support.manifests import manifest

pytestmark = [pytest.mark.node, pytest.mark.xdist_group("storage")]
HOUR_S = 3_600


@pytest.fixture(autouse=True)
def _able() -> None:
    if reason := reason_to_model(manifest()):
        pytest.skip(reason)


def test_a_run_goes_on_over_two_nights_and_nothing_is_left(tmp_path: Path) -> None:
    with ground(tmp_path) as site:
        story = site.play(days=2)
    assert story.ok, story.broken
    first, second = story.nodes
    assert (first.real, second.real, story.real_nodes) == (True, True, 2)
    assert (first.steps_from, first.how, second.how) == (0, "drained", "drained")
    assert first.steps_to is not None
    assert second.steps_from is not None
    assert 0 < first.steps_to <= second.steps_from < (second.steps_to or 0)
    assert (story.steps_lost, story.two_writer_seconds) == (0, 0)
    assert story.curves["train"].real
    assert story.curves["train"].points[0][2] > story.curves["train"].points[-1][2]
    for node in story.nodes:
        spent = {phase.phase: phase.end - phase.start for phase in node.phases}
        assert node.billed_s == sum(spent.values())
        assert 0 <= spent["boot"] + spent["train"] - 11 * HOUR_S + 300 <= 600
        assert 1 <= spent["drain"] <= 60
    assert not list(MEMORY.glob(f"{PREFIX}{os.getpid()}-*"))


def test_a_node_whose_metadata_is_silent_at_its_end_asks_its_group_and_saves(tmp_path: Path) -> None:
    with ground(tmp_path) as site:
        story = site.play(days=1, names=("imds-lost@mon+10h50m",))
    assert story.ok, story.broken
    (node,) = story.nodes
    assert (node.real, node.how, story.steps_lost) == (True, "drained", 0)
    assert (node.steps_to or 0) > 0

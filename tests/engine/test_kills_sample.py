"""Two points of the kill campaign: the CLI killed in an up, the provider in a destroy (docs/kills.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from nightshift.emulator.engine.toolchain import Toolchain
from tests.campaigns.kill_point import Point, Reference, reference, run_point

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("engine-kills")]


@pytest.fixture(scope="module")
def undisturbed(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Reference:
    return reference(toolchain, "rehearsal", tmp_path_factory.mktemp("undisturbed"))


@pytest.mark.parametrize(
    "point",
    [
        Point("sample-up", "up", "rehearsal", "cli", at=0.6, delay_s=0.0),
        Point("sample-destroy", "destroy", "rehearsal", "terraform", at=0.4, delay_s=0.0),
    ],
    ids=lambda point: point.id,
)
def test_a_killed_run_is_run_again_and_converges(
    toolchain: Toolchain, undisturbed: Reference, point: Point, tmp_path: Path
) -> None:
    if point.who == "terraform" and toolchain.provider == "plugin":
        pytest.skip("the official plugin is the engine's own child")
    outcome = run_point(toolchain, point, undisturbed, tmp_path)
    assert outcome.killed == 1
    assert outcome.problems == []

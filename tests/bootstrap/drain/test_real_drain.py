"""The real agent in a node of its own, with a real training process on a real volume: it ends in time.

A sample of `python -m tests.campaigns.drains`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nightshift.emulator.cloud.process import start_cloud
from nightshift.emulator.sandbox.network import reason_to_skip
from tests.bootstrap.drain.support.ground import Ground, ground
from tests.bootstrap.drain.support.measure import drain, judge

pytestmark = [pytest.mark.node, pytest.mark.xdist_group("storage")]


@pytest.fixture(scope="module")
def site() -> Iterator[Ground]:
    if reason := reason_to_skip():
        pytest.skip(reason)
    with start_cloud() as cloud, ground(cloud) as made:
        yield made


def test_a_run_goes_on_over_a_planned_and_a_spot_end(site: Ground) -> None:
    first = site.launch()
    first.trains()
    planned = drain(site, first, "planned")
    judge(planned, None)
    second = site.launch()
    second.trains()
    spot = drain(site, second, "spot")
    judge(spot, planned)
    print(first.words, second.words, planned, spot)
    assert planned.problems == []
    assert spot.problems == []
    assert 0 < planned.step < spot.step

"""The real agent in a node of its own, with a real training process on a real volume: it ends in time.

A sample of `python -m tests.campaigns.drains`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from bootstrap.manifest import BootShift
from nightshift.emulator.cloud.process import start_cloud
from nightshift.emulator.sandbox.network import reason_to_skip
from tests.bootstrap.drain.support.declared import ASG
from tests.bootstrap.drain.support.ground import Ground, ground
from tests.bootstrap.drain.support.measure import MACHINE_GONE, drain, judge

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
    assert planned.problems == []
    assert spot.problems == []
    assert 0 < planned.step < spot.step


def test_a_node_outside_of_its_shift_lets_its_group_go_to_zero(site: Ground) -> None:
    """On the emulated AWS, from a launch that its group still waits for: by the program's own policy."""
    soon = (datetime.now(UTC) + timedelta(hours=2)).replace(minute=0)
    until = soon + timedelta(hours=1)
    day = soon.strftime("%a").lower()
    shift = BootShift((day,), f"{soon:%H:%M}", f"{until:%H:%M}")  # ty: ignore[invalid-argument-type]
    site.declare(site.manifest(shifts=(shift,)))
    try:
        life = site.launch()
        assert life.end() in (0, MACHINE_GONE)
        assert site.members() == []
        group = site.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[ASG])
        assert group["AutoScalingGroups"][0]["DesiredCapacity"] == 0
        assert "waiting for a device" not in life.words, "it took no volume"
        record = site.record(life.node, "drain.json")
        assert record is not None
        assert record["kind"] == "over"
    finally:
        site.declare(site.manifest())

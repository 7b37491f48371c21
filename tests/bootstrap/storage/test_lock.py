"""AttachVolume is the lock: nodes on the emulated AWS that want the same volumes at once."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import pytest

from bootstrap.storage.attach import attach_all, release_all
from nightshift.emulator.cloud.process import Cloud, start_cloud
from tests.bootstrap.storage.support.bench import manifest, wish
from tests.bootstrap.storage.support.machine import reason_to_skip
from tests.bootstrap.storage.support.pair import WAITS, Pair, pair, together

pytestmark = pytest.mark.node


@pytest.fixture(scope="module")
def cloud() -> Generator[Cloud]:
    if reason := reason_to_skip():
        pytest.skip(reason)
    with start_cloud() as started:
        yield started


@pytest.fixture
def site(cloud: Cloud) -> Generator[Pair]:
    with pair(cloud) as made:
        yield made


def test_the_second_node_waits_and_gets_the_volume_after_the_firsts_detach(site: Pair) -> None:
    volume = site.volume("runs")
    stays = together(site, [[wish("runs")], [wish("runs")]], seed=1, use_s=1)
    assert [stay.error for stay in stays] == ["", ""]
    reports = [stay.report for stay in stays]
    assert all(report is not None and report.ready for report in reports), reports
    assert all(stay.clean for stay in stays)
    spans = sorted(site.held.spans, key=lambda span: span[2])
    assert [span[0] for span in spans] == [volume, volume]
    assert spans[0][3] <= spans[1][2]
    assert sorted(len(stay.saw["runs"]) for stay in stays) == [0, 1]
    waited = [
        step.says for report in reports if report for step in report.volumes[0].steps if step.name == "claim"
    ]
    assert sum("after a wait" in says for says in waited) == 1


@pytest.mark.parametrize("seed", range(2))
def test_two_nodes_that_want_two_volumes_in_opposite_order_both_get_both(site: Pair, seed: int) -> None:
    for name in ("imagenet", "runs"):
        site.volume(name)
    there, back = [wish("imagenet"), wish("runs")], [wish("runs"), wish("imagenet")]
    stays = together(site, [there, back], seed)
    assert [stay.error for stay in stays] == ["", ""]
    assert all(stay.report is not None and stay.report.ready and stay.clean for stay in stays), stays
    assert len(site.held.spans) == 4


def test_nodes_of_one_group_take_a_volume_each_of_a_pool(site: Pair) -> None:
    for index in range(3):
        site.volume("scratch", index)
    stays = together(site, [[wish("scratch", per="node")]] * 3, seed=3, use_s=2)
    assert [stay.error for stay in stays] == ["", "", ""]
    ids = [stay.report.volumes[0].id for stay in stays if stay.report]
    assert len(ids) == 3
    assert all(stay.clean for stay in stays)


def test_a_holder_that_never_lets_go_is_named_when_the_time_is_over(site: Pair) -> None:
    """And what was taken before is let go: the other volume is free again."""
    first, second = site.volume("imagenet"), site.volume("runs")
    holder, late = site.node(), site.node()
    assert attach_all(manifest(wish("runs")), site.aws(holder), holder.place(WAITS)).ready
    beats: list[str] = []
    place = replace(late.place(replace(WAITS, claim_s=2)), heartbeat=beats.append)
    report = attach_all(manifest(wish("runs"), wish("imagenet")), site.aws(late), place)
    assert not report.ready
    assert f"{second} held by {holder.instance}" in report.problems[0].found
    assert any(holder.instance in beat for beat in beats)
    states = {each["VolumeId"]: each["State"] for each in site.ec2.describe_volumes()["Volumes"]}
    assert (states[first], states[second]) == ("available", "in-use")
    assert release_all((wish("runs"),), site.aws(holder), holder.place(WAITS)).clean


def test_throttled_and_unreached_calls_are_tried_again(site: Pair) -> None:
    site.volume("runs")
    site.cloud.control("faults", {"throttle": {"ec2.AttachVolume": 2, "ec2.DescribeVolumes": 2}})
    (stay,) = together(site, [[wish("runs")]], seed=5)
    assert stay.report is not None
    assert stay.report.ready
    assert stay.clean

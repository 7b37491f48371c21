"""Snapshots by tag, in UTC, within the hour, as many as are kept."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.rehearsal.control.snapshots import _first
from nightshift.rehearsal.world.model import SnapshotPolicy, World
from tests.rehearsal.support.sites import DAY, HOUR, MONDAY, lab, played, told


def with_policy(world: World, **changes: object) -> World:
    return replace(world, policies=tuple(replace(one, **changes) for one in world.policies))


def test_the_tagged_volume_has_a_snapshot_a_day_and_the_others_none() -> None:
    _, world = lab()
    site = played(world, days=14)
    (runs,) = site.named["runs"]
    (imagenet,) = site.named["imagenet"]
    assert len(runs.taken) == 14
    assert len(runs.snapshots) == 7
    assert runs.snapshots == runs.taken[-7:]
    assert imagenet.taken == []
    due = MONDAY + 10 * HOUR + 1_800
    assert all(0 <= at - due - day * DAY < HOUR for day, at in enumerate(runs.taken))


def test_a_tag_that_differs_in_a_letter_gets_none() -> None:
    _, world = lab()
    site = played(with_policy(world, targets=(("nightshift:snapshots", "lab.Nightly"),)))
    assert told(site, "snapshot")[0].says.endswith("no volume bears its tag")


def test_a_disabled_policy_takes_none() -> None:
    _, world = lab()
    assert told(played(with_policy(world, enabled=False)), "snapshot") == []


@settings(deadline=None)
@given(
    st.integers(0, 23),
    st.integers(0, 59),
    st.sampled_from([1, 2, 3, 4, 6, 8, 12, 24]),
    st.integers(0, 10 * DAY),
)
def test_the_first_turn_is_the_first_one_not_before_the_start(
    hour: int, minute: int, every: int, later: int
) -> None:
    policy = SnapshotPolicy("p", "d", True, (), f"{hour:02}:{minute:02}", every, 3)
    start = MONDAY + later
    first = _first(policy, start)
    assert start <= first < start + every * HOUR
    assert (first - MONDAY - hour * HOUR - minute * 60) % (every * HOUR) == 0

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.plan.volumes import LiveVolume, State, VolumeSpec, reconcile

ZONE = "us-east-1a"


def live(
    id: str = "vol-1",
    name: str = "runs",
    *,
    index: int = 0,
    zone: str = ZONE,
    size: int = 200,
    state: State = "available",
    site: str | None = "lab",
) -> LiveVolume:
    return LiveVolume(id, name, index, zone, size, state, site)


def problems(declared: list[VolumeSpec], found: list[LiveVolume]) -> tuple[str, ...]:
    result = reconcile(declared, found, ZONE, "lab")
    assert not (result.problems and (result.imports or result.creates))
    return result.problems


RUNS = VolumeSpec("runs", 200)


def test_a_live_volume_is_imported_and_a_missing_one_made() -> None:
    result = reconcile([RUNS, VolumeSpec("data", 300)], [live()], ZONE, "lab")
    assert (result.imports, result.creates, result.problems) == ({("runs", 0): "vol-1"}, (("data", 0),), ())


@pytest.mark.parametrize("state", ["creating", "available", "in-use"])
def test_these_states_count_as_alive(state: State) -> None:
    assert reconcile([RUNS], [live(state=state)], ZONE, "lab").imports == {("runs", 0): "vol-1"}


@pytest.mark.parametrize("state", ["deleting", "deleted", "error"])
def test_these_states_do_not(state: State) -> None:
    assert reconcile([RUNS], [live(state=state)], ZONE, "lab").creates == (("runs", 0),)


def test_a_grown_volume_is_no_problem() -> None:
    assert problems([VolumeSpec("runs", 400)], [live()]) == ()


def test_a_shrunk_volume_is_refused_with_both_sizes() -> None:
    (problem,) = problems([VolumeSpec("runs", 100)], [live()])
    assert "vol-1 has 200 GiB, the file gives 100 GiB" in problem
    assert "size_gib: 200 or more" in problem


def test_two_of_one_name_are_refused_with_both_ids() -> None:
    (problem,) = problems([RUNS], [live(), live("vol-2")])
    assert "vol-1" in problem
    assert "vol-2" in problem
    assert "nightshift retire runs" in problem


def test_a_removed_volume_is_refused_with_the_ways_out() -> None:
    (problem,) = problems([], [live()])
    assert "no longer names it" in problem
    assert "adopt: vol-1" in problem
    assert "nightshift retire runs" in problem


def test_a_renamed_volume_is_guessed() -> None:
    (problem,) = problems([VolumeSpec("results", 200)], [live()])
    assert "was it renamed to results?" in problem


def test_a_renamed_volume_that_is_adopted_keeps_its_data() -> None:
    result = reconcile([VolumeSpec("results", 200, adopt="vol-1")], [live()], ZONE, "lab")
    assert (result.imports, result.creates, result.problems) == ({("results", 0): "vol-1"}, (), ())


def test_a_volume_in_another_zone_is_refused() -> None:
    (problem,) = problems([RUNS], [live(zone="us-east-1b")])
    assert "vol-1 is in us-east-1b, the file says us-east-1a" in problem
    assert "put zone: us-east-1b back" in problem


def test_an_adopted_id_that_is_not_alive_is_refused() -> None:
    (problem,) = problems([VolumeSpec("runs", 200, adopt="vol-9")], [])
    assert "adopt names vol-9, which isn't alive" in problem
    assert "from: snap-" in problem


def test_an_adopted_volume_of_another_site_is_refused() -> None:
    (problem,) = problems([VolumeSpec("runs", 200, adopt="vol-1")], [live(site="team")])
    assert 'belongs to site "team"' in problem


def test_an_adopted_volume_in_another_zone_is_refused() -> None:
    (problem,) = problems(
        [VolumeSpec("runs", 200, adopt="vol-1")], [live(zone="us-east-1b", site=None, name="")]
    )
    assert "can't move" in problem


def test_an_untagged_volume_can_be_adopted() -> None:
    found = [live(site=None, name="")]
    assert reconcile([VolumeSpec("runs", 200, adopt="vol-1")], found, ZONE, "lab").imports == {
        ("runs", 0): "vol-1"
    }


def test_two_names_cannot_adopt_one_volume() -> None:
    both = [VolumeSpec("a", 200, adopt="vol-1"), VolumeSpec("b", 200, adopt="vol-1")]
    assert any(
        "one volume takes one name" in problem for problem in problems(both, [live(site=None, name="")])
    )


def test_an_adoption_beside_a_live_one_of_that_name_is_refused() -> None:
    (problem,) = problems([VolumeSpec("runs", 200, adopt="vol-2")], [live(), live("vol-2", "", site=None)])
    assert "2 are alive" in problem


def test_a_pool_cannot_adopt() -> None:
    assert any(
        "a pool has 3" in p for p in problems([VolumeSpec("s", 9, count=3, adopt="vol-1")], [live(name="s")])
    )


def test_a_size_below_the_snapshot_is_refused() -> None:
    spec = VolumeSpec("runs", 100, from_snapshot="snap-1", snapshot_size_gib=150)
    (problem,) = problems([spec], [])
    assert "snapshot snap-1 has 150 GiB" in problem


def test_a_snapshot_counts_only_at_creation() -> None:
    spec = VolumeSpec("runs", 200, from_snapshot="snap-1", snapshot_size_gib=500)
    assert problems([spec], [live()]) == ()


def test_a_pool_is_known_by_index_and_a_shrunk_pool_refused() -> None:
    found = [live("vol-0", "s", index=0, size=9), live("vol-2", "s", index=2, size=9)]
    result = reconcile([VolumeSpec("s", 9, count=3)], found, ZONE, "lab")
    assert (result.imports, result.creates) == ({("s", 0): "vol-0", ("s", 2): "vol-2"}, (("s", 1),))
    (problem,) = problems([VolumeSpec("s", 9, count=2)], found)
    assert '"s" (index 2): vol-2' in problem


def test_another_sites_volumes_are_not_ours() -> None:
    assert reconcile([RUNS], [live(site="team")], ZONE, "lab").creates == (("runs", 0),)


def test_all_problems_come_at_once() -> None:
    found = [live(zone="us-east-1b", size=300), live("vol-2", "old")]
    assert len(problems([RUNS, VolumeSpec("data", 50, adopt="vol-9")], found)) == 4


names = st.sampled_from(["a", "b", "c"])
volumes = st.builds(
    live,
    st.integers(0, 5).map(lambda n: f"vol-{n}"),
    names,
    index=st.integers(0, 2),
    zone=st.sampled_from([ZONE, "us-east-1b"]),
    size=st.integers(1, 5),
    state=st.sampled_from(["available", "in-use", "creating", "deleting", "error"]),
    site=st.sampled_from(["lab", "team", None]),
)
specs = st.builds(
    VolumeSpec, names, st.integers(1, 5), st.integers(1, 3), st.sampled_from([None, None, "vol-1"])
)


@given(
    st.lists(specs, max_size=3, unique_by=lambda spec: spec.name),
    st.lists(volumes, max_size=5, unique_by=lambda volume: volume.id),
)
def test_nothing_alive_is_doubled_or_dropped(declared: list[VolumeSpec], found: list[LiveVolume]) -> None:
    result = reconcile(declared, found, ZONE, "lab")
    if result.problems:
        assert (result.imports, result.creates) == ({}, ())
        return
    alive = {v.id for v in found if v.site == "lab" and v.state in ("available", "in-use", "creating")}
    keys = {(spec.name, index) for spec in declared for index in range(spec.count)}
    assert alive <= set(result.imports.values()), "a live volume of the site would be forgotten"
    assert len(set(result.imports.values())) == len(result.imports)
    assert set(result.imports) | set(result.creates) == keys
    assert not set(result.imports) & set(result.creates)

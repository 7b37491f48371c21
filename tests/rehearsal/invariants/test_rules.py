"""Each rule alone: what it lets pass and what it names."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.rehearsal.expect import GroupExpect, SnapshotExpect
from nightshift.rehearsal.invariants import billing, capacity, kept, steps
from nightshift.rehearsal.invariants.spans import around, inside, latest, near, upcoming

GROUP = GroupExpect("vit", "Etc/UTC", 2, ((1_000, 5_000), (9_000, 12_000)), 1_500, 600)
POLICY = SnapshotExpect("nightly", "10:30", 24, 7, ("runs",))
SPANS = st.lists(st.integers(0, 5_000), unique=True, max_size=20).map(
    lambda edges: tuple(zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False))
)


@settings(deadline=None)
@given(SPANS, st.integers(-10, 5_010))
def test_spans_are_found_as_by_looking_at_each(spans: tuple[tuple[int, int], ...], at: int) -> None:
    here = [span for span in spans if span[0] <= at < span[1]]
    assert around(spans, at) == (here[0] if here else None)
    assert inside(spans, at) == bool(here)
    before = [span for span in spans if span[0] <= at]
    assert latest(spans, at) == (before[-1] if before else None)
    later = [span for span in spans if span[0] > at]
    assert upcoming(spans, at) == (later[0] if later else None)


@settings(deadline=None)
@given(SPANS, st.integers(0, 5_000), st.integers(1, 900), st.integers(0, 300))
def test_seconds_outside_are_those_that_no_window_and_no_allowance_holds(
    spans: tuple[tuple[int, int], ...], start: int, length: int, after: int
) -> None:
    life = (start, start + length)
    allowed = [False] * length
    for low, high in spans:
        for second in range(max(low, start), min(high + after, life[1])):
            allowed[second - start] = True
    assert billing.outside(life, near(spans, start - after, life[1]), after) == allowed.count(False)


def test_a_size_may_be_the_old_one_for_two_minutes_only() -> None:
    assert capacity.broken(GROUP, 0, 1_100) is None
    assert capacity.broken(GROUP, 2, 1_000) is None
    assert capacity.broken(GROUP, 0, 1_121) == "vit is to have 0 nodes, its calendar says 2"
    assert capacity.broken(GROUP, 1, 2_000) is not None
    assert capacity.broken(GROUP, 2, 5_119) is None
    assert capacity.broken(GROUP, 2, 5_121) is not None


def test_a_planned_end_loses_nothing_and_a_crash_an_interval() -> None:
    assert steps.broken_stop("vit", 100, 100, 0, True) is None
    assert steps.broken_stop("vit", 101, 100, 50, True) is not None
    assert steps.broken_stop("vit", 150, 100, 50, False) is None
    assert steps.broken_stop("vit", 151, 100, 50, False) is not None
    assert steps.broken_resume("vit", 100, 100) is None
    assert steps.broken_resume("vit", 99, 100) == "vit goes on from step 99, but step 100 was saved"


def test_a_snapshot_comes_within_its_hour_and_as_many_are_kept_as_said() -> None:
    assert kept.broken(POLICY, "runs", [1_000], 900, 1) is None
    assert kept.broken(POLICY, "runs", [899], 900, 1) is not None
    assert kept.broken(POLICY, "runs", [4_500], 900, 1) is not None
    assert kept.broken(POLICY, "runs", list(range(901, 909)), 900, 9) is not None
    assert kept.broken(POLICY, "runs", list(range(901, 908)), 900, 9) is None

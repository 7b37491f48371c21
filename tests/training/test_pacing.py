"""How often to save and to ask."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.training import pacing
from nightshift.training.pacing import Cost

SECONDS = st.floats(min_value=0.0, max_value=1e5)
LOSSES = st.floats(min_value=1.0, max_value=1e7)


def lost_share(interval: float, cost: float, loss_every: float) -> float:
    """Young's first-order waste: saving, and half an interval done again per loss."""
    return cost / interval + interval / (2 * loss_every)


def test_the_interval_wastes_less_than_its_neighbours() -> None:
    cost, losses = Cost(2.0, 5.0), 6 * 3600.0
    best = pacing.save_interval(cost, losses)
    assert best == pytest.approx(292, abs=2)
    assert lost_share(best, 2.0, losses) < lost_share(best * 1.3, 2.0, losses)
    assert lost_share(best, 2.0, losses) < lost_share(best / 1.3, 2.0, losses)


@given(SECONDS, SECONDS, LOSSES)
def test_saving_never_takes_more_than_its_share_and_never_overlaps(
    blocked: float, background: float, losses: float
) -> None:
    interval = pacing.save_interval(Cost(blocked, background), losses)
    assert interval >= pacing.SHORTEST_S
    assert blocked <= interval * pacing.OVERHEAD_AT_MOST * (1 + 1e-9)
    assert interval >= 2 * background


@given(LOSSES)
def test_a_cheap_save_loses_half_an_hour_at_the_most(losses: float) -> None:
    assert pacing.save_interval(Cost(0.05, 1.0), losses) <= pacing.LONGEST_S


def test_a_dearer_save_comes_less_often_and_more_losses_bring_it_more_often() -> None:
    assert pacing.save_interval(Cost(1.0, 1.0), 7200) < pacing.save_interval(Cost(4.0, 1.0), 7200)
    assert pacing.save_interval(Cost(1.0, 1.0), 3600) < pacing.save_interval(Cost(1.0, 1.0), 7200)


def test_more_nodes_lose_more_often_and_past_the_end_a_loss_is_near() -> None:
    assert pacing.loss_every(8000.0, 4, None) == 2000.0
    assert pacing.loss_every(None, 1, 10.0) == pacing.LOSS_EVERY_S
    assert pacing.loss_every(8000.0, 1, -1.0) == pacing.OVERTIME_LOSS_EVERY_S


@pytest.mark.parametrize(
    ("since", "left", "before", "due"),
    [
        (100.0, None, None, True),
        (99.0, None, None, False),
        (1.0, 50.0, None, False),
        (1.0, 30.0, None, True),
        (1.0, 30.0, 31.0, True),
        (1.0, 29.0, 30.0, False),
        (1.0, -5.0, 31.0, False),
    ],
)
def test_a_save_comes_by_the_interval_and_once_before_the_deadline(
    since: float, left: float | None, before: float | None, due: bool
) -> None:
    says = pacing.save_due(
        since_save_s=since, interval_s=100.0, left_s=left, guard_s=30.0, last_save_left_s=before
    )
    assert says is due


@given(st.floats(min_value=0.0, max_value=1e4))
def test_ranks_ask_each_other_each_step_when_steps_are_slow(step_s: float) -> None:
    steps = pacing.ask_every(step_s)
    assert 1 <= steps <= pacing.STEPS_AT_MOST
    assert steps == 1 or steps * step_s <= pacing.ANSWER_WITHIN_S * (1 + 1e-9)

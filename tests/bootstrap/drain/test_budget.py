"""How a drain's time is shared: whatever is left, what comes after the job has its part."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.drain.budget import LEAST_S, share, waits_for


@given(st.floats(-1e3, 1e5))
def test_the_shares_are_all_of_the_time_and_none_is_nothing(left: float) -> None:
    shares = share(left)
    parts = (shares.job_s, shares.kill_s, shares.unmount_s, shares.tell_s, shares.detach_s)
    assert sum(parts) == pytest.approx(max(LEAST_S, left))
    assert min(parts) > 0


@given(st.floats(0, 1e4), st.floats(0, 1e4))
def test_more_time_shortens_no_share(one: float, other: float) -> None:
    less, more = share(min(one, other)), share(max(one, other))
    for name in ("job_s", "kill_s", "unmount_s", "tell_s", "detach_s"):
        assert getattr(more, name) >= getattr(less, name) - 1e-9


def test_a_job_has_84_of_a_spot_notices_120_seconds_and_450_of_a_planned_600() -> None:
    assert share(120).job_s == pytest.approx(84)
    assert share(600).job_s == pytest.approx(450)
    assert share(600).unmount_s > 60


@given(st.floats(0.1, 200), st.floats(0.1, 100))
def test_storages_own_deadlines_fit_into_the_share(unmount: float, detach: float) -> None:
    """sync, umount, SIGTERM, SIGKILL, and umount once more."""
    waits = waits_for(unmount, detach)
    spent = waits.sync_s + 2 * waits.umount_s + waits.term_s + waits.kill_s
    assert spent <= 1.2 * unmount + 1e-9
    assert waits.detach_s <= detach

"""When a launch is stuck, and how one that ended did."""

from __future__ import annotations

import pytest

from bootstrap.launch.edges import Waits
from bootstrap.launch.job_folder import Outcome
from bootstrap.launch.watching import Life, judge, stuck

WAITS = Waits(start_s=100, stall_s=200, idle_s=300, cut_off_s=60)
FINE = Life(age_s=50, step=3, still_s=5, contract=True)


@pytest.mark.parametrize(
    ("life", "words"),
    [
        (FINE, None),
        (Life(99, None, 99, True), None),
        (Life(61, None, 61, True, usual_s=2.0), "no first step 61 s"),
        (Life(59, None, 59, True, usual_s=2.0), None),
        (Life(81, None, 81, True, usual_s=20.0), "no first step 81 s"),
        (Life(99, None, 99, True, usual_s=90.0), None),
        (Life(101, None, 101, True), "no first step 101 s after its launch"),
        (Life(500, None, 500, False, idle_s=10), None),
        (Life(500, None, 500, False, idle_s=301), "used no CPU for 301 s"),
        (Life(500, 7, 199, True), None),
        (Life(500, 7, 201, True), "no step after 7 for 201 s"),
        (Life(500, 7, 59, True, cut_off_s=500), None),
        (Life(500, 7, 61, True, cut_off_s=59), None),
        (Life(500, 7, 61, True, cut_off_s=61), "cut off from its group"),
    ],
)
def test_a_launch_is_stuck_only_where_no_job_would_be(life: Life, words: str | None) -> None:
    says = stuck(life, WAITS)
    assert (says is None) if words is None else (says is not None and words in says)


def told(outcome: str, *, saved: bool = True) -> Outcome:
    return Outcome(outcome, 12, "step-000012", saved, "why")


@pytest.mark.parametrize(
    ("outcome", "code", "why", "asked", "kind", "saved"),
    [
        (told("finished"), 1, "", False, "finished", True),
        (told("finished"), 0, "", True, "finished", True),
        (told("drained"), 1, "", False, "drained", True),
        (told("drained", saved=False), 0, "", True, "drained", False),
        (told("failed", saved=False), 1, "", False, "failed", False),
        (told("failed", saved=False), 1, "", True, "drained", False),
        (None, 0, "", False, "finished", True),
        (None, 1, "", False, "lost", False),
        (None, -9, "", False, "lost", False),
        (None, None, "no first step", False, "lost", False),
        (None, 1, "", True, "drained", False),
        (None, None, "not saved in time", True, "drained", False),
    ],
)
def test_an_end_is_judged_by_the_jobs_word_and_else_by_the_code(
    outcome: Outcome | None, code: int | None, why: str, asked: bool, kind: str, saved: bool
) -> None:
    verdict = judge(outcome, code, why, asked, 5)
    assert (verdict.kind, verdict.saved) == (kind, saved)


def test_a_drain_before_the_first_step_loses_nothing() -> None:
    verdict = judge(None, -15, "", True, None)
    assert (verdict.kind, verdict.saved, verdict.reason) == ("drained", True, "it had not begun")


def test_a_signal_is_named() -> None:
    assert judge(None, -9, "", False, None).reason == "torchrun was killed by SIGKILL"
    assert judge(None, -77, "", False, None).reason == "torchrun was killed by 77"

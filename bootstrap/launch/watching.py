"""Whether a running job still works, and how an ended one ended. Pure; seconds."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from bootstrap.launch.edges import Waits
from bootstrap.launch.job_folder import Outcome
from bootstrap.launch.lease import Kind
from bootstrap.launch.torchrun import GONE

USUAL_TIMES = 4
IDLE_SHARE = 0.01
"""Of one core: less than this is no training, whatever kind of job it is."""


@dataclass(frozen=True)
class Life:
    """One launch so far. `step`: the newest one it told of, None before the first; `still_s`: since that
    changed (or since the launch). `contract`: this job is known to tell its steps. `idle_s`: since it last
    used CPU. `usual_s`: the longest that an earlier launch here took to its first step, None before one.
    `cut_off_s`: since the group's board answered, 0 for a node alone."""

    age_s: float
    step: int | None
    still_s: float
    contract: bool
    idle_s: float = 0.0
    cut_off_s: float = 0.0
    usual_s: float | None = None


def first_step_by(usual_s: float | None, waits: Waits) -> float:
    """Seconds that a launch may take to its first step: many at first, then by what it took before."""
    if usual_s is None:
        return waits.start_s
    return min(waits.start_s, max(waits.again_s, USUAL_TIMES * usual_s))


def stuck(life: Life, waits: Waits) -> str | None:
    """Why this launch must be ended as lost, or None."""
    if life.contract and life.step is None and life.age_s > first_step_by(life.usual_s, waits):
        return f"no first step {life.age_s:.0f} s after its launch"
    if life.step is not None and life.still_s > waits.stall_s:
        return f"no step after {life.step} for {life.still_s:.0f} s"
    if life.step is None and not life.contract and life.idle_s > waits.idle_s:
        return f"it used no CPU for {life.idle_s:.0f} s"
    if min(life.cut_off_s, life.still_s) > waits.cut_off_s:
        return f"this node is cut off from its group and made no step for {life.still_s:.0f} s"
    return None


@dataclass(frozen=True)
class Verdict:
    """How one launch ended here."""

    kind: Kind
    step: int | None
    checkpoint: str | None
    saved: bool
    reason: str


def judge(outcome: Outcome | None, code: int | None, why: str, asked: bool, step: int | None) -> Verdict:
    """By the job's own word; by torchrun's exit code only where there is none.

    `why`: the reason for which the node ended it, empty when it ended by itself. `asked`: it was told to
    drain. `step`: the newest one that it told of in this launch; what was made before is in a checkpoint.
    """
    if outcome is not None:
        return _by_its_word(outcome, asked)
    if asked:
        begun = step is not None
        words = "it ended without a word" if begun else "it had not begun"
        return Verdict("drained", step, None, not begun, why or words)
    if why:
        return Verdict("lost", step, None, False, why)
    if code == 0:
        return Verdict("finished", step, None, True, "it ended with code 0 and no word")
    return Verdict("lost", step, None, False, _ending(code))


def _by_its_word(outcome: Outcome, asked: bool) -> Verdict:
    told = (outcome.step, outcome.checkpoint, outcome.saved, outcome.reason)
    if outcome.outcome == "finished":
        return Verdict("finished", *told)
    if outcome.outcome == "drained" or asked:
        return Verdict("drained", *told)
    return Verdict("failed", *told)


def _ending(code: int | None) -> str:
    if code is None:
        return "torchrun was ended"
    if code == GONE:
        return "the server that torchrun is forked from is gone"
    if code >= 0:
        return f"torchrun ended with code {code} and the job left no word"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    return f"torchrun was killed by {name}"

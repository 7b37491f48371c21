"""No committed step is lost; a planned end loses none, a crash at most what came after the last save."""

from __future__ import annotations

NAME = "no-step-lost"
SAYS = "no saved step is lost, a planned end loses none, a crash at most one interval between saves"


def broken_resume(group: str, step: int, committed: int) -> str | None:
    """A job that goes on from before what was saved."""
    if step >= committed:
        return None
    return f"{group} goes on from step {step}, but step {committed} was saved"


def broken_stop(group: str, step: int, kept: int, may_lose: int, planned: bool) -> str | None:
    """A job that stopped at `step` with `kept` saved."""
    lost = step - kept
    if planned and lost:
        return f"{group} lost {lost} steps (after {kept}) at a planned end"
    if lost > may_lose:
        return f"{group} lost {lost} steps (after {kept}), at most {may_lose} may be lost between two saves"
    return None

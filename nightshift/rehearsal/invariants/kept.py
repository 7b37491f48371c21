"""No snapshot is missing, and none beyond those to keep."""

from __future__ import annotations

from collections.abc import Sequence

from nightshift.rehearsal.control.timing import SNAPSHOT_WITHIN_S
from nightshift.rehearsal.expect import SnapshotExpect

NAME = "snapshots-taken"
SAYS = (
    "each volume with a snapshot policy has its snapshot within the hour of its turn, and all of them, or of "
    "more than are to be kept the newest, are there"
)


def broken(policy: SnapshotExpect, volume: str, taken: Sequence[int], due: int, turns: int) -> str | None:
    """What is wrong with a volume's snapshots after the turn that was due, the `turns`-th."""
    if not any(due <= at < due + SNAPSHOT_WITHIN_S for at in taken):
        return f"volume {volume} has no snapshot by policy {policy.name} of its turn"
    if len(taken) != min(turns, policy.keep):
        return f"volume {volume} has {len(taken)} snapshots after {turns} turns, {policy.keep} are to be kept"
    return None

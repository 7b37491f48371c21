"""Nothing is left after a destroy but what is kept."""

from __future__ import annotations

from collections.abc import Iterable

from nightshift.rehearsal.control.state import GroupState, VolumeState

NAME = "nothing-left"
SAYS = (
    "when the stack is destroyed, as each rehearsal does once its time is over, no instance is left and "
    "nobody holds a volume; volumes are kept"
)


def broken(groups: Iterable[GroupState], volumes: Iterable[VolumeState], kept: Iterable[str]) -> str | None:
    """What is wrong once the destroy has had its time."""
    alive = [f"{node.id} of {group.name}" for group in groups for node in group.nodes]
    states = list(volumes)
    held = [f"volume {state.volume.name}" for state in states if state.holder is not None]
    gone = set(kept) - {state.volume.name for state in states}
    found = [*alive, *held, *(f"volume {name} is gone" for name in sorted(gone))]
    return f"left after destroy: {', '.join(found)}" if found else None

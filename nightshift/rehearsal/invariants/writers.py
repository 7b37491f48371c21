"""Never two writers of a volume."""

from __future__ import annotations

from nightshift.rehearsal.control.state import VolumeState

NAME = "one-writer"
SAYS = "no volume is ever written to by two nodes"


def broken(volume: VolumeState) -> str | None:
    """What is wrong now."""
    if len(volume.writers) < 2:
        return None
    who = ", ".join(f"{node.id} of {node.instance.group}" for node in volume.writers)
    return f"volume {volume.volume.name} ({volume.volume.id}) is written to by {who}"

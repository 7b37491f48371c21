"""An agent that can't even begin, start after start: what a node that nobody can reach costs has an end."""

from __future__ import annotations

from pathlib import Path

LIMIT_S = 1800.0
"""Longer than a machine's metadata service or network is away in passing; on one GPU node some dollars."""
LIVED_S = 600.0
"""A start that lived longer was of use: what fails after it is a new trouble."""


def troubled_since(before: float | None, began: float, failed: float) -> float:
    """When the present row of failing starts began; all in seconds since the machine's boot."""
    if before is None or failed - began > LIVED_S:
        return failed
    return min(before, failed)


def helpless(memory: Path, began: float, failed: float) -> bool:
    """Whether starts have failed for LIMIT_S, this one included. `memory` is gone after a boot.

    A memory that can't be kept (a full disk) never ends a node: it would by accident.
    """
    try:
        memory.parent.mkdir(parents=True, exist_ok=True)
        since = troubled_since(_remembered(memory), began, failed)
        memory.write_text(f"{since}", encoding="ascii")
    except OSError:
        return False
    return failed - since >= LIMIT_S


def _remembered(memory: Path) -> float | None:
    try:
        return float(memory.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None

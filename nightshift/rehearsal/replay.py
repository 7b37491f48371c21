"""The command line that plays a run again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime


def command(stack: str, start: int, end: int, seed: int, faults: Sequence[str]) -> str:
    """The same stack, time, seed and faults."""
    words = ["nightshift rehearse --only control", f"--stack {stack}", f"--seed {seed}"]
    words.append(f"--from {datetime.fromtimestamp(start, UTC):%Y-%m-%dT%H:%MZ}")
    words.append(f"--weeks {_weeks(end - start)}")
    if faults:
        words.append(f"--faults {','.join(faults)}")
    return " ".join(words)


def _weeks(seconds: int) -> str:
    """Six decimals tell every second from the next."""
    return f"{seconds / 604_800:.6f}".rstrip("0").rstrip(".")

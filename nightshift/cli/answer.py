"""What a verb found: lines for a person, data for a program, a code for the shell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nightshift.cli.errors import FINE


@dataclass(frozen=True)
class Answer:
    """`lines` fit 80 columns and carry no colour; `data` is JSON-ready; `notes` go to stderr."""

    lines: tuple[str, ...]
    data: Mapping[str, object]
    code: int = FINE
    notes: tuple[str, ...] = field(default=())

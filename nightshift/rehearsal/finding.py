"""One thing that the tour looked at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TourFinding:
    """`what` was looked at; `says` what was found, and in a bad one what was expected."""

    ok: bool
    what: str
    says: str


def judged(what: str, wrong: list[str], right: str) -> TourFinding:
    """Bad with every deviation, or good with what was found."""
    return TourFinding(not wrong, what, "; ".join(wrong) if wrong else right)

"""The one error of reading a world."""

from __future__ import annotations


class Unplayable(Exception):
    """Something is deployed that the rehearsal can't play; `problems` has all of it, one sentence each."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems

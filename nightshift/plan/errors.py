"""The one error that planning raises."""

from __future__ import annotations


class PlanError(ValueError):
    """What the user asked for can't be planned. `problems` holds every finding, one sentence each."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems

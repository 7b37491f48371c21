"""What this room raises for a user to read."""

from __future__ import annotations


class TrainingError(Exception):
    """A run that can't go on as asked. `problems`: one sentence each, all of them at once."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class SaveError(Exception):
    """A checkpoint that was not written; the ones before it stand. Training goes on."""

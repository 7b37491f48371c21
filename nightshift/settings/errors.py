"""What a user gets told when a stack file is wrong: every problem, one line each."""

from __future__ import annotations


class SettingsError(Exception):
    """A stack file that cannot be used. `problems` holds one line per problem, without the header."""

    def __init__(self, stack: str, problems: tuple[str, ...]) -> None:
        super().__init__(stack, problems)
        self.stack = stack
        self.problems = problems

    def __str__(self) -> str:
        count = len(self.problems)
        noun = "problem" if count == 1 else "problems"
        lines = "\n".join(f"  {problem}" for problem in self.problems)
        return f"stack {self.stack}: {count} {noun}, nothing was changed\n{lines}"

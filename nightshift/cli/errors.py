"""How a verb ends when it can't do what was asked."""

from __future__ import annotations

FINE = 0
PROBLEM = 1
WRONG_USE = 2


class CliError(Exception):
    """Ends the verb: `lines` for people, `kind` for programs, `code` for the shell."""

    code = PROBLEM
    kind = "problem"

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class UsageError(CliError):
    """The command as written makes no sense here."""

    code = WRONG_USE
    kind = "usage"


class StackProblems(CliError):
    """The stack file has problems; every one is a line."""

    kind = "stack"


class NotDeployed(CliError):
    """What the verb acts on doesn't exist in the account yet."""

    kind = "not-deployed"

    def __init__(self, stack: str, what: str) -> None:
        super().__init__(f"{what} isn't deployed: run `pulumi up -s {stack}` first")


class AwsError(CliError):
    """AWS couldn't be asked, or said no."""

    kind = "aws"

"""What a verb may ask of the world around it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from nightshift.cli.errors import StackProblems, UsageError
from nightshift.cli.project import StackFile, choose

if TYPE_CHECKING:
    from nightshift.cli.aws import Aws
    from nightshift.settings.models import Stack

NOW = "NIGHTSHIFT_NOW"
"""Tests and docs fix the clock with it: an instant such as 2026-12-01T09:00:00Z."""

_PROFILE = "aws:profile"
_FIRST_YEAR, _LAST_YEAR = 1970, 2199


def _ask(question: str) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(f"{question} Nobody is here to answer: say --yes")
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}


def _say(line: str) -> None:
    from nightshift.cli.text import safe

    print(safe(line), file=sys.stderr, flush=True)


def _put(line: str) -> None:
    print(line, flush=True)


def _become(words: Sequence[str], env: Mapping[str, str]) -> None:
    """This process goes on as another program. Python ignores SIGPIPE, and a program would inherit that."""
    import signal

    sys.stdout.flush()
    sys.stderr.flush()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execve(words[0], list(words), dict(env))


@dataclass(frozen=True)
class Context:
    """The current folder, the environment, a person to ask; tests give their own.

    `say` is for progress, `put` for what is asked for and can't wait for the verb's end; `become` doesn't
    return outside of tests.
    """

    cwd: Path = field(default_factory=Path.cwd)
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)
    ask: Callable[[str], bool] = _ask
    say: Callable[[str], None] = _say
    put: Callable[[str], None] = _put
    become: Callable[[Sequence[str], Mapping[str, str]], None] = _become

    def now(self) -> datetime:
        """The present instant, UTC, whole seconds."""
        fixed = self.env.get(NOW)
        if not fixed:
            return datetime.now(UTC).replace(microsecond=0)
        try:
            at = datetime.fromisoformat(fixed)
        except ValueError as error:
            raise UsageError(f"{NOW}: given {fixed!r}, expected such as 2026-12-01T09:00:00Z") from error
        if not _FIRST_YEAR <= at.year <= _LAST_YEAR:
            raise UsageError(f"{NOW}: given {fixed!r}, expected a year from {_FIRST_YEAR} to {_LAST_YEAR}")
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)

    def file(self, asked: str | None) -> StackFile:
        """The stack file meant by --stack; raises UsageError."""
        return choose(self.cwd, asked, self.env)

    def stack(self, file: StackFile) -> Stack:
        """The stack, read and valid; raises StackProblems with every problem."""
        from nightshift.settings import SettingsError, read_stack

        try:
            return read_stack(file.path, self.now())
        except SettingsError as error:
            shown = file.path.relative_to(file.root)
            raise StackProblems(f"{shown} has problems:", *error.problems) from error

    def connect(self, file: StackFile, stack: Stack) -> Aws:
        """AWS as the stack file and the environment say; asks nothing yet."""
        from nightshift.cli.aws import Aws

        return Aws(stack.region, profile_of(file), self.env)


def profile_of(file: StackFile) -> str | None:
    """`aws:profile` as Pulumi reads it in the stack file, if it says one. Raises StackProblems."""
    from nightshift.settings.document import config_of
    from nightshift.settings.yamltext import YamlError, load

    shown = file.path.relative_to(file.root)
    try:
        config, encrypted = config_of(load(file.path.read_bytes()))
    except YamlError as error:
        raise StackProblems(f"{shown} has problems:", f"{file.path.name}: {error}") from None
    profile = config.get(_PROFILE)
    if _PROFILE in encrypted:
        raise StackProblems(
            f"{shown} has problems:", f"{_PROFILE} holds an encrypted value (secure:); write it in plain text"
        )
    if isinstance(profile, dict | list):
        raise StackProblems(f"{shown} has problems:", f"{_PROFILE} must be the name of one profile, as text")
    return str(profile) if profile else None

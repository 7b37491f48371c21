"""The edge to other programs: one command, a deadline, and all that it said."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bootstrap.process import to_its_end

Command = tuple[str, ...]
NOT_FOUND, NOT_ALLOWED = 127, 126
"""Exit codes as a shell has them, for a program that isn't there or can't be run."""
_MARK = "-- whole --"
_WHOLE = f'"$@" && echo "{_MARK}"'


@dataclass(frozen=True)
class Answer:
    """What a command gave back; `late` when it was ended at its deadline."""

    rc: int
    stdout: str
    stderr: str = ""
    late: bool = False


class Commands(Protocol):
    """Runs a command; never raises for what the command does."""

    def run(self, command: Command, deadline_s: float) -> Answer:
        """The answer, at latest a few seconds after the deadline."""


def whole(command: Command) -> Command:
    """The same, with a last line that proves that a listing of any length is there to its end."""
    return ("sh", "-c", _WHOLE, "sh", *command)


def unmarked(text: str) -> str | None:
    """The listing without that last line, or None when the line isn't there."""
    end = f"{_MARK}\n"
    return text[: -len(end)] if text.endswith(end) else None


def marked(text: str) -> str:
    """What `whole` makes of a listing: for recorded answers."""
    return f"{text}{_MARK}\n"


class Shell:
    """Real processes."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = {**(os.environ if environment is None else environment), "LC_ALL": "C.UTF-8"}

    def run(self, command: Command, deadline_s: float) -> Answer:
        """Bytes that aren't UTF-8 come as U+FFFD, which no reader accepts."""
        try:
            ended = to_its_end(command, deadline_s, self._environment, ".")
        except FileNotFoundError:
            return Answer(NOT_FOUND, "", f"{command[0]}: not found")
        except OSError as error:
            return Answer(NOT_ALLOWED, "", f"{command[0]}: {error.strerror}")
        if ended.code is None:
            return Answer(-signal.SIGKILL, ended.out, ended.err, late=True)
        return Answer(ended.code, ended.out, ended.err)


class Recorded:
    """Answers from a record; a command that isn't in it isn't installed.

    A command's answers are given one after the other, the last one from then on.
    """

    def __init__(self, answers: Mapping[Command, Answer | Sequence[Answer]]) -> None:
        self._answers = {
            command: [given] if isinstance(given, Answer) else list(given)
            for command, given in answers.items()
        }
        self.asked: list[Command] = []

    def run(self, command: Command, deadline_s: float) -> Answer:
        """The next answer; `deadline_s` is of no account."""
        self.asked.append(command)
        answers = self._answers.get(command)
        if not answers:
            return Answer(NOT_FOUND, "", f"{command[0]}: not found")
        return answers.pop(0) if len(answers) > 1 else answers[0]

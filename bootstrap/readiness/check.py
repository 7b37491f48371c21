"""A check: a name, the part of the order it belongs to, and a function that only looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bootstrap.readiness.expectation import Expectation
from bootstrap.readiness.reading import Unreadable
from bootstrap.readiness.situation import Situation
from bootstrap.readiness.verdict import Finding


@dataclass(frozen=True)
class Result:
    """What a check's function gives back; `check` puts the name to it."""

    passed: bool
    expected: str
    found: str
    remedy: str = ""
    asked: bool = True


Look = Callable[[Situation, Expectation], Result]


@dataclass(frozen=True)
class Check:
    """`name` is `part.what`; `remedy` is what to do when what it reads isn't there or isn't understood."""

    name: str
    look: Look
    expected: str
    remedy: str

    @property
    def part(self) -> str:
        """The part of the order."""
        return self.name.partition(".")[0]

    def run(self, situation: Situation, expected: Expectation) -> Finding:
        """The finding. What can't be read or isn't a value fails, with the text that was seen."""
        try:
            result = self.look(situation, expected)
        except Unreadable as error:
            result = Result(False, self.expected, f"{error.what}: {error.seen}", self.remedy)
        except ValueError as error:
            result = Result(False, self.expected, f"not understood: {error}", self.remedy)
        return Finding(
            self.name, result.passed, result.expected, result.found, result.remedy, asked=result.asked
        )


def good(expected: str, found: str) -> Result:
    """It is as expected."""
    return Result(True, expected, found)


def bad(expected: str, found: str, remedy: str) -> Result:
    """It isn't."""
    return Result(False, expected, found, remedy)


def not_asked(why: str) -> Result:
    """The check doesn't concern this node."""
    return Result(True, "nothing", f"not asked: {why}", asked=False)


def decided(passed: bool, expected: str, found: str, remedy: str) -> Result:
    """Good or bad."""
    return good(expected, found) if passed else bad(expected, found, remedy)

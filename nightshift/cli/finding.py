"""A line of `doctor`: how it stands, and what to do when it doesn't."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """`todo` is empty when nothing needs doing."""

    level: Level
    topic: str
    says: str
    todo: str = ""


Check = Callable[[], Sequence[Finding]]


def guarded(topic: str, check: Check) -> Sequence[Finding]:
    """The check's findings; a refusal or lost network is a finding too."""
    from nightshift.cli.failures import from_aws

    try:
        return check()
    except Exception as error:
        known = from_aws(error)
        if known is None:
            raise
        todo, *said = known.lines
        return [Finding("fail", topic, " ".join(said) or todo, todo if said else "")]

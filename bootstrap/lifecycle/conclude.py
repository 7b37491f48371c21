"""The end of a launch: the record is the truth; metric, tag and the hook's result derive from it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bootstrap.aws import AwsError
from bootstrap.readiness.verdict import Verdict
from nightshift.records.errors import RecordsError
from nightshift.records.model import ReadinessRecord


class LaunchAws(Protocol):
    """What the end of a launch asks of AWS."""

    def count_failed_boot(self) -> None:
        """One more failed boot of the group."""

    def tag_itself(self, readiness: str, reason: str) -> None:
        """The verdict as tags."""

    def complete_launch(self, result: str) -> bool:
        """CONTINUE or ABANDON; False when nobody waits any more."""


@dataclass(frozen=True)
class Concluded:
    """`ready` as recorded; `waited`: the group still waited for this launch, so ABANDON ends the node."""

    ready: bool
    waited: bool


def conclude(
    verdict: Verdict,
    node: str,
    group: str,
    at: datetime,
    aws: LaunchAws,
    write: Callable[[ReadinessRecord], None],
) -> Concluded:
    """Record the verdict, say it, complete the hook. Only what the hook itself answers is raised.

    A node whose record can't be written is not ready, whatever the checks say.
    """
    record = ReadinessRecord(node, group, verdict.ready, verdict.failed, verdict.says, at)
    failure = _failed("write the readiness record", lambda: write(record))
    ready = verdict.ready and not failure
    if not ready:
        _failed("count the failed boot", aws.count_failed_boot)
    says = failure if verdict.ready and failure else verdict.says
    _failed("tag the node", lambda: aws.tag_itself("ready" if ready else "not-ready", says))
    return Concluded(ready, aws.complete_launch("CONTINUE" if ready else "ABANDON"))


def _failed(what: str, act: Callable[[], None]) -> str:
    """Why it couldn't be done, which is said; empty when it was."""
    try:
        act()
    except (RecordsError, *AwsError) as error:
        says = f"could not {what}: {error}"
        print(f"nightshift: {says}", file=sys.stderr)
        return says
    return ""

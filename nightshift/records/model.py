"""The records themselves: frozen, versioned, written as JSON with sorted keys."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from nightshift.records import fields
from nightshift.records.errors import Unreadable

LONGEST = timedelta(days=366)
"""How far ahead an override may reach; what goes beyond is for the shifts to say."""
_LAST_YEAR = 2200


def dumped(values: dict[str, object]) -> bytes:
    """The object's body: the version with it, keys sorted."""
    return json.dumps({"version": fields.VERSION, **values}, sort_keys=True).encode()


@dataclass(frozen=True)
class OverrideRecord:
    """An operator's word over the calendar of one group; no longer in force once `until` has passed."""

    state: Literal["up", "down"]
    until: datetime
    by: str
    at: datetime

    def in_force(self, now: datetime) -> bool:
        """Whether it still overrules the calendar at `now`."""
        return now < self.until

    def dump(self) -> bytes:
        """The object's body."""
        return dumped(
            {
                "state": self.state,
                "until": fields.stamp(self.until),
                "by": self.by,
                "at": fields.stamp(self.at),
            }
        )

    @classmethod
    def load(cls, where: str, body: bytes) -> OverrideRecord:
        """Parse an object's body; raises Unreadable."""
        raw = fields.load(where, body)
        state = fields.text(where, raw, "state")
        if state != "up" and state != "down":
            raise Unreadable(where, f"field state is {state!r}, neither up nor down")
        until = fields.instant(where, raw, "until")
        by, at = fields.text(where, raw, "by"), fields.instant(where, raw, "at")
        if until - at > LONGEST or until.year > _LAST_YEAR:
            raise Unreadable(where, f"field until is {fields.stamp(until)}, more than a year ahead")
        return cls(state=state, until=until, by=by, at=at)


@dataclass(frozen=True)
class ReadinessRecord:
    """A node's verdict on itself. `failed` names the first check that failed, empty when ready."""

    node: str
    group: str
    ready: bool
    failed: str
    says: str
    at: datetime

    def dump(self) -> bytes:
        """The object's body."""
        return dumped(
            {
                "node": self.node,
                "group": self.group,
                "ready": self.ready,
                "failed": self.failed,
                "says": self.says,
                "at": fields.stamp(self.at),
            }
        )

    @classmethod
    def load(cls, where: str, body: bytes) -> ReadinessRecord:
        """Parse an object's body; raises Unreadable."""
        raw = fields.load(where, body)
        return cls(
            node=fields.text(where, raw, "node"),
            group=fields.text(where, raw, "group"),
            ready=fields.truth(where, raw, "ready"),
            failed=fields.text(where, raw, "failed"),
            says=fields.text(where, raw, "says"),
            at=fields.instant(where, raw, "at"),
        )


@dataclass(frozen=True)
class RunRecord:
    """A group's training run: its last durable checkpoint, and whether it is finished.

    `run` is the run's id, so that a finished job holds no other one back; empty in older records.
    """

    group: str
    step: int
    checkpoint: str
    done: bool
    at: datetime
    run: str = ""

    def dump(self) -> bytes:
        """The object's body."""
        return dumped(
            {
                "group": self.group,
                "step": self.step,
                "checkpoint": self.checkpoint,
                "done": self.done,
                "at": fields.stamp(self.at),
                "run": self.run,
            }
        )

    @classmethod
    def load(cls, where: str, body: bytes) -> RunRecord:
        """Parse an object's body; raises Unreadable."""
        raw = fields.load(where, body)
        return cls(
            group=fields.text(where, raw, "group"),
            step=fields.number(where, raw, "step"),
            checkpoint=fields.text(where, raw, "checkpoint"),
            done=fields.truth(where, raw, "done"),
            at=fields.instant(where, raw, "at"),
            run=fields.text(where, raw, "run") if "run" in raw else "",
        )

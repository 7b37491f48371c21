"""How long a node ran in a month, as it writes it itself while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from nightshift.records import fields
from nightshift.records.errors import Unreadable
from nightshift.records.model import dumped


@dataclass(frozen=True)
class HoursRecord:
    """One boot of one node: up with `gpus` cards from `since` until at least `until`.

    A span over the end of a month stands in both months, and counts in each as far as it lies in it.
    """

    node: str
    gpus: float
    since: datetime
    until: datetime

    def dump(self) -> bytes:
        """The object's body."""
        return dumped(
            {
                "node": self.node,
                "gpus": self.gpus,
                "since": fields.stamp(self.since),
                "until": fields.stamp(self.until),
            }
        )

    @classmethod
    def load(cls, where: str, body: bytes) -> HoursRecord:
        """Parse an object's body; raises Unreadable."""
        raw = fields.load(where, body)
        found = cls(
            node=fields.text(where, raw, "node"),
            gpus=fields.amount(where, raw, "gpus"),
            since=fields.instant(where, raw, "since"),
            until=fields.instant(where, raw, "until"),
        )
        if found.until < found.since:
            raise Unreadable(where, "ends before it begins")
        return found

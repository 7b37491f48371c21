"""How a node ended: what each step of its drain took, and what could not be done in time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from nightshift.records import fields
from nightshift.records.model import dumped


@dataclass(frozen=True)
class DrainStep:
    """One step; `seconds` as measured. Without `done` it failed or was given up, and `says` why."""

    name: str
    seconds: float
    done: bool
    says: str


@dataclass(frozen=True)
class DrainRecord:
    """`kind` is the notice's, `saved` whether the job's last step is in its checkpoint (None: no job ran).

    Written before the group is told, so what comes after it (hook, detach) isn't in it.
    """

    node: str
    group: str
    kind: str
    reason: str
    began: datetime
    seconds: float
    budget_s: float
    saved: bool | None
    steps: tuple[DrainStep, ...]

    def dump(self) -> bytes:
        """The object's body."""
        return dumped(
            {
                "node": self.node,
                "group": self.group,
                "kind": self.kind,
                "reason": self.reason,
                "began": fields.stamp(self.began),
                "seconds": round(self.seconds, 3),
                "budget_s": round(self.budget_s, 3),
                "saved": self.saved,
                "steps": [
                    {
                        "name": step.name,
                        "seconds": round(step.seconds, 3),
                        "done": step.done,
                        "says": step.says,
                    }
                    for step in self.steps
                ],
            }
        )

    @classmethod
    def load(cls, where: str, body: bytes) -> DrainRecord:
        """Parse an object's body; raises Unreadable."""
        raw = fields.load(where, body)
        steps = fields.objects(where, raw, "steps")
        return cls(
            node=fields.text(where, raw, "node"),
            group=fields.text(where, raw, "group"),
            kind=fields.text(where, raw, "kind"),
            reason=fields.text(where, raw, "reason"),
            began=fields.instant(where, raw, "began"),
            seconds=fields.amount(where, raw, "seconds"),
            budget_s=fields.amount(where, raw, "budget_s"),
            saved=None if raw.get("saved") is None else fields.truth(where, raw, "saved"),
            steps=tuple(
                DrainStep(
                    fields.text(where, each, "name"),
                    fields.amount(where, each, "seconds"),
                    fields.truth(where, each, "done"),
                    fields.text(where, each, "says"),
                )
                for each in steps
            ),
        )

"""Where a node's notebooks listen, and with which token: for the operator who asks for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nightshift.records import fields
from nightshift.records.errors import Unreadable
from nightshift.records.model import dumped

_MOST_PORT = 65_535


@dataclass(frozen=True)
class Notebook:
    """One user's, at `port` of the node's loopback. `problem`: in words why it doesn't run, mostly empty."""

    user: str
    port: int
    token: str = field(repr=False)
    problem: str = ""


@dataclass(frozen=True)
class NotebookRecord:
    """The notebooks of one node since `since`, in the order of their users.

    Without any the node has drained and ended them; a node that died leaves the last one, so ask first
    whether it still runs.
    """

    node: str
    group: str
    since: datetime
    notebooks: tuple[Notebook, ...]

    def of(self, user: str) -> Notebook | None:
        """That user's."""
        return next((each for each in self.notebooks if each.user == user), None)

    def dump(self) -> bytes:
        """The object's body."""
        return dumped(
            {
                "node": self.node,
                "group": self.group,
                "since": fields.stamp(self.since),
                "notebooks": [
                    {"user": each.user, "port": each.port, "token": each.token, "problem": each.problem}
                    for each in self.notebooks
                ],
            }
        )

    @classmethod
    def load(cls, where: str, body: bytes) -> NotebookRecord:
        """Parse an object's body; raises Unreadable."""
        raw = fields.load(where, body)
        listed = fields.objects(where, raw, "notebooks")
        return cls(
            node=fields.text(where, raw, "node"),
            group=fields.text(where, raw, "group"),
            since=fields.instant(where, raw, "since"),
            notebooks=tuple(_notebook(where, each) for each in listed),
        )


def _notebook(where: str, raw: Mapping[str, object]) -> Notebook:
    port = fields.number(where, raw, "port")
    if not 0 < port <= _MOST_PORT:
        raise Unreadable(where, f"field port is {port}, no port")
    return Notebook(
        user=fields.text(where, raw, "user"),
        port=port,
        token=fields.text(where, raw, "token"),
        problem=fields.text(where, raw, "problem"),
    )

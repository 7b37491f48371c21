"""What the nodes of a group write for each other: one lease by the leader, one record by each node."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Literal, TypeVar

from bootstrap.decode import Problems, decode

VERSION = 1
State = Literal["gathering", "running", "over"]
Kind = Literal["finished", "drained", "failed", "lost"]
T = TypeVar("T", "Lease", "Member")


@dataclass(frozen=True)
class Lease:
    """Who leads, and which generation of the job there is.

    A generation is one torchrun on each of `members` under the rendezvous id `id`; it's never joined late
    and never mended: whatever happens to it, the next one has a number and an id of its own. `members` are
    the keys of the last one that ran, none before the first. `regroup`: end it saved, others wait to join.
    `best` is the highest step that any generation reached, `barren` how many in a row reached none beyond.
    An empty `leader` is a lease that its holder gave up. Once it's over, `kind` says how.
    """

    leader: str
    token: str
    run: str
    generation: int
    state: State
    id: str = ""
    address: str = ""
    port: int = 0
    members: tuple[str, ...] = ()
    regroup: bool = False
    best: int = -1
    barren: int = 0
    reason: str = ""
    kind: Kind | None = None
    step: int | None = None
    checkpoint: str | None = None
    version: int = VERSION


@dataclass(frozen=True)
class Member:
    """One node's own word. `token` is new with each start of its agent.

    `ready`: nothing of the job runs here and all is prepared. `last`: the newest generation that was
    launched here; `verdict`: how that one ended, None while it runs. `agreed`: the job itself said so, and
    a job that drains does it on all nodes at the same step. `leaving`: it takes part no more.
    """

    instance: str
    token: str
    run: str
    address: str
    ready: bool = False
    last: int = 0
    verdict: Kind | None = None
    agreed: bool = False
    reason: str = ""
    step: int | None = None
    checkpoint: str | None = None
    leaving: bool = False
    version: int = VERSION

    @property
    def key(self) -> str:
        """Names this start of this node's agent."""
        return f"{self.instance}/{self.token}"


def dump(record: Lease | Member) -> bytes:
    """Sorted, so that the same record is the same object: writing it again only renews its date."""
    return json.dumps(dataclasses.asdict(record), sort_keys=True).encode()


def load(kind: type[T], body: bytes) -> T | None:
    """None for anything that isn't such a record of this version."""
    try:
        raw = json.loads(body)
    except (ValueError, RecursionError):
        return None
    problems: Problems = []
    record = decode(kind, raw, "", problems)
    return record if isinstance(record, kind) and record.version == VERSION else None

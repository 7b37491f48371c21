"""What a rehearsal of weeks leaves behind: all that its report, its terminal view and `--json` tell.

Every instant is whole seconds since 1970, UTC; every length is in seconds unless its name says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

VERSION = 1
Span = tuple[int, int]
"""[from, to)."""
PhaseName = Literal["boot", "train", "save", "drain", "failed"]
Ending = Literal[
    "alive", "drained", "finished", "killed", "interrupted", "abandoned", "failed", "ended itself"
]


@dataclass(frozen=True)
class GroupInfo:
    """A group as deployed. `kind` says in words what it runs on, e.g. `spot: g6.12xlarge, g5.12xlarge`.

    `windows` are the spans in which the calendar wants it up; `save_s` the longest time between two saves,
    0 where it runs no job; `modelled_save_s` how often a modelled job saves, 0 where real ones do.
    `overrides`: (from, to, word) of an operator, in force then.
    """

    zone: str
    kind: str
    nodes: int
    windows: tuple[Span, ...]
    save_s: int
    hourly_usd: float = 0.0
    overrides: tuple[tuple[int, int, Literal["up", "down"]], ...] = ()
    modelled_save_s: int = 0

    @property
    def has_job(self) -> bool:
        """Whether it trains anything."""
        return self.save_s > 0


@dataclass(frozen=True)
class Phase:
    """What a node did, [start, end)."""

    phase: PhaseName
    start: int
    end: int


@dataclass(frozen=True)
class NodeLife:
    """One instance from its launch to its end. `ended` None: still there when the rehearsal ended.

    `how` it ended in one word, `why` in a sentence. `real`: its agent and job ran as real processes.
    `billed_s` is what AWS bills of it; steps are those of the job's own count, None when it never trained:
    where it began, the last one made, and the one that the job could go on from when it stopped.
    """

    id: str
    group: str
    type: str
    market: Literal["on-demand", "spot", "capacity-block"]
    real: bool
    launched: int
    ended: int | None
    how: Ending
    why: str
    phases: tuple[Phase, ...] = ()
    steps_from: int | None = None
    steps_to: int | None = None
    steps_kept: int | None = None
    billed_s: int = 0
    usd: float = 0.0


@dataclass(frozen=True)
class Event:
    """Something happened. `kind` is one of KINDS; `fault` the name as given of the fault behind it."""

    at: int
    kind: str
    says: str
    group: str | None = None
    node: str | None = None
    fault: str | None = None


KINDS: Mapping[str, str] = {
    "action": "a scheduled action set how many nodes the group is to have",
    "missed": "a scheduled action didn't fire, or moved nothing",
    "launch": "an instance was launched",
    "no-capacity": "AWS had no instance to give",
    "attach": "a volume was attached",
    "detach": "a volume was detached",
    "ready": "a node passed its checks and is in service",
    "boot-failed": "a node gave up before it was ready",
    "resume": "a job began, or went on from its last save",
    "save": "what of a job was saved when it stopped; its saves before that aren't listed",
    "notice": "AWS announced that it takes a spot node back",
    "drain": "a node began its planned end: it stops its job, saves, unmounts",
    "ended": "an instance is gone",
    "alarm": "an alarm changed its state",
    "policy": "an alarm set how many nodes the group is to have",
    "snapshot": "a snapshot was taken or expired",
    "suspended": "AWS or an operator suspended a process of the group",
    "override": "an operator's word came into force or went",
    "fault": "a fault struck",
    "healed": "a fault's effect was over",
    "finished": "a job was done",
    "broken": "a rule was broken",
}
"""Each kind of event, and what it means."""


@dataclass(frozen=True)
class Curve:
    """A group's training: (at, step, loss) points, and (at, step) of each resume. `real` as in NodeLife."""

    points: tuple[tuple[int, int, float], ...] = ()
    resumes: tuple[tuple[int, int], ...] = ()
    real: bool = False


@dataclass(frozen=True)
class FaultEnd:
    """A fault and how it ended. `fault` is the name as given, e.g. `spot@wed+3h`; `struck` None: never.

    `ended` says in a sentence what happened, `must` how its kind must end; `ok`: it ended so.
    """

    fault: str
    what: str
    struck: int | None
    group: str | None
    ended: str
    steps_lost: int
    minutes_lost: int
    ok: bool
    must: str = ""


@dataclass(frozen=True)
class BillLine:
    """One metered line of the bill; `minutes` are billed node minutes, 0 where it isn't time of nodes."""

    what: str
    quantity: float
    unit: str
    unit_usd: float
    usd: float
    minutes: int = 0
    group: str | None = None


@dataclass(frozen=True)
class Difference:
    """Why bill and forecast differ by so much; positive: the bill is higher.

    `unserved`: a shift wanted nodes then and had none; `shifts`: the starts of the shifts that it lay in.
    """

    why: str
    minutes: int
    usd: float
    group: str | None = None
    unserved: bool = False
    shifts: tuple[int, ...] = ()


@dataclass(frozen=True)
class Bill:
    """Metered from launch and terminate events, beside the forecast of the same span.

    The differences add up: usd - forecast_usd == sum of theirs, and the same for minutes.
    """

    lines: tuple[BillLine, ...] = ()
    usd: float = 0.0
    forecast_usd: float = 0.0
    always_on_usd: float = 0.0
    billed_minutes: int = 0
    forecast_minutes: int = 0
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True)
class Invariant:
    """A rule that was looked at `checked` times; `looked_at` says at what."""

    name: str
    says: str
    checked: int
    looked_at: str = ""


@dataclass(frozen=True)
class Break:
    """A broken rule: what was seen, the events before (oldest first), and the command that replays it."""

    rule: str
    at: int
    says: str
    before: tuple[Event, ...]
    replay: str


@dataclass(frozen=True)
class Story:
    """The whole run, which took `seconds` here; `compressed` says how time inside a shift was shortened.

    `by_seed`: so many of the faults were chosen by chance, the others were named.
    """

    stack: str
    seed: int
    start: int
    end: int
    timezone: str
    groups: dict[str, GroupInfo]
    nodes: tuple[NodeLife, ...] = ()
    events: tuple[Event, ...] = ()
    curves: dict[str, Curve] = field(default_factory=dict)
    faults: tuple[FaultEnd, ...] = ()
    bill: Bill = Bill()
    invariants: tuple[Invariant, ...] = ()
    broken: tuple[Break, ...] = ()
    seconds: float = 0.0
    real_nodes: int = 0
    steps_trained: int = 0
    steps_lost: int = 0
    two_writer_seconds: int = 0
    provider: str = ""
    compressed: str = ""
    replay: str = ""
    by_seed: int = 0
    version: int = VERSION

    @property
    def weeks(self) -> float:
        """How long the rehearsed time is."""
        return (self.end - self.start) / 604_800

    @property
    def ok(self) -> bool:
        """No rule broken, every fault ended as it must."""
        return not self.broken and all(fault.ok for fault in self.faults)


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Story]:
    return TypeAdapter(Story)


def to_json(story: Story) -> str:
    """The story as JSON text; `from_json` gives an equal one back."""
    return _adapter().dump_json(story).decode()


def from_json(text: str) -> Story:
    """Read a story back; raises pydantic.ValidationError (a ValueError) for anything else."""
    return _adapter().validate_json(text)


def local(at: int, zone: str) -> datetime:
    """The wall clock at `at` in an IANA zone."""
    return datetime.fromtimestamp(at, UTC).astimezone(ZoneInfo(zone))

"""Shift by shift: what was expected, what was there, what struck, and whether it went well."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from nightshift.rehearsal.faults.table import WORDS
from nightshift.rehearsal.story import Event, FaultEnd, NodeLife, Span, Story

Verdict = Literal["fine", "disturbed", "failed", "broken", "done", "cut"]
WORTH_TELLING: tuple[Verdict, ...] = ("broken", "failed", "disturbed")
MEANS: dict[Verdict, str] = {
    "fine": "up as calendar and operator want it",
    "disturbed": "something went wrong in it, and nodes were up all the same",
    "failed": "no node came into service in all of it",
    "broken": "a rule was broken in it",
    "done": "no node needed: the job was done before",
    "cut": "the rehearsal began or ended inside it, before a node was up",
}
SHOWN: dict[Verdict, str] = {
    "fine": "as planned",
    "disturbed": "disturbed",
    "failed": "lost",
    "broken": "broken",
    "done": "not needed",
    "cut": "cut off",
}
"""As people read it."""
_BAD_ENDINGS = ("interrupted", "killed", "abandoned", "failed")
_AFTER = 3600
"""Seconds past a shift's end in which its drain and what strikes it still belong to it."""
_LONGEST_NAME = 24
_SHORT = 900
"""A shift cut by the rehearsal's edge to less than this many seconds isn't expected to come up."""


@dataclass(frozen=True)
class Night:
    """One window of a group's calendar.

    `up_s` is the time in it with at least one node in service; `steps` is None where no job counted any.
    """

    group: str
    start: int
    end: int
    nodes: tuple[NodeLife, ...]
    faults: tuple[FaultEnd, ...]
    verdict: Verdict
    up_s: int
    steps: int | None
    steps_lost: int
    billed_s: int
    usd: float
    why: tuple[str, ...]

    @property
    def expected_s(self) -> int:
        """How long the calendar wants it up."""
        return self.end - self.start

    @property
    def worth_telling(self) -> bool:
        """Whether a reader must hear of it."""
        return self.verdict in WORTH_TELLING


def stop(story: Story) -> int:
    """When the rehearsal ended: at its end, or at the first broken rule."""
    return min([story.end, *(one.at for one in story.broken)])


def nights(story: Story) -> tuple[Night, ...]:
    """Every shift of every group, by time."""
    homes = _homes(story)
    found = []
    for name, info in story.groups.items():
        events = _Log.of(story, name)
        for window, nodes in _shared_out(info.windows, _of(story.nodes, name)).items():
            if window[0] >= stop(story) or window[1] <= story.start:
                continue
            shift = _Shift(name, window, tuple(nodes), tuple(homes.get((name, window), ())), events)
            found.append(_night(shift, story.start, stop(story)))
    return tuple(sorted(found, key=lambda night: (night.start, night.group)))


def outside(story: Story) -> tuple[NodeLife, ...]:
    """Nodes that were launched when the calendar wanted none."""
    inside = {
        node.id
        for name, info in story.groups.items()
        for nodes in _shared_out(info.windows, _of(story.nodes, name)).values()
        for node in nodes
    }
    return tuple(node for node in story.nodes if node.id not in inside)


def numbered(story: Story) -> list[tuple[int, FaultEnd]]:
    """The faults by the time they struck, from 1; those that never did come last."""
    ordered = sorted(story.faults, key=lambda fault: (fault.struck is None, fault.struck or 0))
    return list(enumerate(ordered, 1))


def named(fault: FaultEnd) -> str:
    """The name as given; of one whose instant the seed chose, the kind."""
    return fault.fault if len(fault.fault) <= _LONGEST_NAME else fault.fault.partition("@")[0]


def union(spans: Iterable[Span]) -> int:
    """Seconds covered by at least one span."""
    covered, reached = 0, -(1 << 62)
    for start, end in sorted(spans):
        covered += max(0, end - max(start, reached))
        reached = max(reached, end)
    return covered


@dataclass(frozen=True)
class _Log:
    """A group's events, by time."""

    events: tuple[Event, ...]
    times: tuple[int, ...] = field(repr=False)

    @classmethod
    def of(cls, story: Story, group: str) -> _Log:
        ordered = sorted((event for event in story.events if event.group == group), key=lambda one: one.at)
        return cls(tuple(ordered), tuple(event.at for event in ordered))

    def during(self, start: int, end: int) -> tuple[Event, ...]:
        """The events in [start, end)."""
        return self.events[bisect_left(self.times, start) : bisect_left(self.times, end)]


@dataclass(frozen=True)
class _Shift:
    """A window of a group with what belongs to it."""

    group: str
    window: Span
    nodes: tuple[NodeLife, ...]
    faults: tuple[FaultEnd, ...]
    log: _Log

    @property
    def events(self) -> tuple[Event, ...]:
        """Those of the shift and of the drain after it."""
        return self.log.during(self.window[0], self.window[1] + _AFTER)


def _of(nodes: Sequence[NodeLife], group: str) -> list[NodeLife]:
    return [node for node in nodes if node.group == group]


def _shared_out(windows: Sequence[Span], nodes: Sequence[NodeLife]) -> dict[Span, list[NodeLife]]:
    """The nodes by the window in which they were launched."""
    ordered = sorted(windows)
    starts = [start for start, _ in ordered]
    found: dict[Span, list[NodeLife]] = {window: [] for window in ordered}
    for node in nodes:
        at = bisect_right(starts, node.launched) - 1
        if at >= 0 and node.launched < ordered[at][1]:
            found[ordered[at]].append(node)
    return found


def _homes(story: Story) -> dict[tuple[str, Span], list[FaultEnd]]:
    """The faults by the shifts they struck; one that struck between two belongs to the first it touched."""
    touched: dict[str, list[Event]] = {}
    for event in story.events:
        if event.fault:
            touched.setdefault(event.fault, []).append(event)
    found: dict[tuple[str, Span], list[FaultEnd]] = {}
    for _, fault in numbered(story):
        if fault.struck is None:
            continue
        for name in [fault.group] if fault.group in story.groups else story.groups:
            window = _home(fault, story.groups[name].windows, touched.get(fault.fault, ()), name)
            if window:
                found.setdefault((name, window), []).append(fault)
    return found


def _home(fault: FaultEnd, windows: Sequence[Span], events: Sequence[Event], group: str) -> Span | None:
    times = [fault.struck or 0, *(event.at for event in events if event.group in (group, None))]
    ordered = sorted(windows)
    for at in times:
        place = bisect_right(ordered, (at, 1 << 62)) - 1
        if place >= 0 and at < ordered[place][1] + _AFTER:
            return ordered[place]
    return None


def _night(shift: _Shift, start: int, end: int) -> Night:
    first, last = shift.window
    working = (phase for node in shift.nodes for phase in node.phases if phase.phase in ("train", "save"))
    within = ((max(phase.start, first), min(phase.end, last)) for phase in working)
    up = union((low, high) for low, high in within if low < high)
    verdict = _verdict(shift, up, start, end)
    return Night(
        group=shift.group,
        start=shift.window[0],
        end=shift.window[1],
        nodes=shift.nodes,
        faults=shift.faults,
        verdict=verdict,
        up_s=up,
        steps=_steps(shift.nodes),
        steps_lost=sum(fault.steps_lost for fault in shift.faults if fault.group == shift.group),
        billed_s=sum(node.billed_s for node in shift.nodes),
        usd=sum(node.usd for node in shift.nodes),
        why=_why(shift, verdict),
    )


def _steps(nodes: Sequence[NodeLife]) -> int | None:
    """By how many steps the job came forward, without those that its last stop lost; several nodes count the
    same ones. None without a job."""
    firsts = [node.steps_from for node in nodes if node.steps_from is not None]
    lasts = [step for node in nodes if (step := _last(node)) is not None]
    return max(lasts) - min(firsts) if firsts and lasts else None


def _last(node: NodeLife) -> int | None:
    return node.steps_kept if node.steps_kept is not None else node.steps_to


def _verdict(shift: _Shift, up: int, start: int, end: int) -> Verdict:
    if any(event.kind == "broken" for event in shift.events):
        return "broken"
    if not up:
        return _idle(shift, start, end)
    struck = any(fault.fault.partition("@")[0] not in WORDS for fault in shift.faults)
    if struck or any(node.how in _BAD_ENDINGS for node in shift.nodes):
        return "disturbed"
    return "fine"


def _idle(shift: _Shift, start: int, end: int) -> Verdict:
    """Why a shift in which no node came into service had none."""
    earlier = shift.log.during(-(1 << 62), shift.window[1])
    if not shift.nodes and any(event.kind == "finished" for event in earlier):
        return "done"
    begun = shift.window[0] < start and not shift.nodes
    ended = shift.window[1] >= end and end - shift.window[0] < _SHORT
    return "cut" if begun or ended else "failed"


def _why(shift: _Shift, verdict: Verdict) -> tuple[str, ...]:
    """The reasons, most telling first; empty for a shift that went well."""
    events = shift.events
    said = [event.says for event in events if event.kind == "broken"]
    said += [f"{named(fault)}: {fault.what}; {fault.ended}" for fault in shift.faults]
    explained = {event.node for event in events if event.fault} if shift.faults else set()
    said += [
        f"{node.id} {node.how}: {node.why}"
        for node in shift.nodes
        if node.how in _BAD_ENDINGS and node.id not in explained
    ]
    if verdict in ("failed", "cut") and not said:
        said += [event.says for event in events if event.kind in ("missed", "no-capacity", "boot-failed")][
            -1:
        ]
        said = said or ["its nodes never came into service" if shift.nodes else "no node was launched"]
    return tuple(said)

"""Where the billed time differs from the planned time, second by second, and why."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from nightshift.rehearsal.bill.lives import Life
from nightshift.rehearsal.invariants.spans import Span
from nightshift.rehearsal.story import Event

LATE = "scheduled actions fired up to two minutes late, nodes were launched later"
AFTER = "after the shifts' ends: late actions and drains, against the drain that the forecast allows"
TWO = "an old node and its successor at the same time"
MIDDLE = "deployed in the middle of a shift"
DOWN = "an operator's word kept it down"
UP = "an operator's word kept it up"
LEAST = "AWS bills a minute at least"
Word = tuple[int, int, Literal["up", "down"]]
"""(from, until, what): an operator's."""
_WHY = {
    "policy": "an alarm had set the group to 0 nodes",
    "finished": "the run was done",
    "missed": "a scheduled action was lost",
    "suspended": "AWS had suspended launches",
    "no-capacity": "AWS had no instance to give",
    "boot-failed": "between a failed boot and the next launch",
    "ended": "between a node's end and its successor's launch",
}
"""By kind of event, what weighs most first."""
_AS_EXPECTED = (_WHY["finished"], DOWN, LATE)
"""Nobody wanted a node then, whatever the calendar said, or it came within the two minutes that AWS takes."""
_RANKS = {kind: rank for rank, kind in enumerate(_WHY)}


@dataclass
class Cause:
    """Seconds more (or fewer) than planned, and the starts of the shifts in which they lay."""

    seconds: int = 0
    shifts: set[int] = field(default_factory=set)

    @property
    def each(self) -> tuple[int, ...]:
        """The shifts' starts, in order."""
        return tuple(sorted(self.shifts))


def unserved(why: str, cause: Cause) -> bool:
    """Whether a shift wanted nodes in that time and had none."""
    return cause.seconds < 0 and bool(cause.shifts) and why not in _AS_EXPECTED


def differences(
    lives: Sequence[Life],
    windows: Sequence[Span],
    nodes: int,
    events: Sequence[Event],
    drain_s: int,
    ends: int,
    words: Sequence[Word] = (),
) -> dict[str, Cause]:
    """Seconds more (or fewer) than planned, by reason; they add up to billed minus planned.

    `windows` and `lives` lie within the rehearsed time; `ends` of the windows end in it, each with a
    planned drain of `drain_s` a node.
    """
    found: defaultdict[str, Cause] = defaultdict(Cause)
    marks = [one for one in events if one.kind in _RANKS or one.kind == "launch" or _released(one)]
    times = [one.at for one in marks]
    for low, high, more, window in _segments(lives, windows, nodes):
        why = _word(low, more, window, words) or _why(low, high, more, window, marks, times)
        found[why].seconds += more * (high - low)
        if window is not None:
            found[why].shifts.add(window[0])
    found[AFTER].seconds -= drain_s * ends * nodes
    found[LEAST].seconds += sum(life.billed_s - life.seconds for life in lives)
    return {why: cause for why, cause in found.items() if cause.seconds}


def _word(low: int, more: int, window: Span | None, words: Sequence[Word]) -> str | None:
    """Whether an operator's word, the latest one then, is behind it; a down lasts to the end of its shift."""
    said = [word for word in words if word[0] <= low]
    if not said:
        return None
    _, until, state = said[-1]
    if state == "down" and window is not None and more < 0 and (low < until or window[0] < until):
        return DOWN
    return UP if state == "up" and window is None and more > 0 and low < until else None


def _released(event: Event) -> bool:
    return event.kind == "action" and event.says.startswith("a node ended itself")


def _segments(
    lives: Sequence[Life], windows: Sequence[Span], nodes: int
) -> list[tuple[int, int, int, Span | None]]:
    """(from, to, nodes more than planned, the window there) wherever that isn't 0."""
    changes: list[tuple[int, int, Span | str | None]] = []
    for life in lives:
        changes += [(life.start, 1, ""), (life.end, -1, "")]
    for span in windows:
        changes += [(span[0], -nodes, span), (span[1], nodes, None)]
    found, more, window, since = [], 0, None, 0
    for at, change, span in sorted(changes, key=lambda one: one[0]):
        if more and at > since:
            found.append((since, at, more, window))
        if not isinstance(span, str):
            window = span
        more, since = more + change, at
    return found


def _why(
    low: int, high: int, more: int, window: Span | None, marks: Sequence[Event], times: Sequence[int]
) -> str:
    """What weighs most between the last launch before it and its end."""
    if window is None:
        return AFTER
    if more > 0:
        return TWO
    near = marks[bisect_left(times, window[0]) : bisect_left(times, high)]
    launched = [index for index, one in enumerate(near) if one.kind == "launch" and one.at <= low]
    since = near[launched[-1] + 1 :] if launched else near
    told = [one for one in since if one.kind != "launch"]
    if not told:
        return LATE
    mark = min(told, key=lambda one: _RANKS.get(one.kind, 1))
    if mark.kind == "action":
        return mark.says.rpartition(": ")[2]
    return MIDDLE if mark.says.startswith(MIDDLE) else _WHY[mark.kind]

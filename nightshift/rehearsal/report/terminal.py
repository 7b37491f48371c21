"""The rehearsal at 80 columns: lines while it runs, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from nightshift.cli.text import WIDTH, wrap
from nightshift.rehearsal.report import gaps
from nightshift.rehearsal.report.headline import as_planned, cost_says, headline, lasted, lost_says
from nightshift.rehearsal.report.nights import SHOWN, WORTH_TELLING, Night, nights, outside, stop
from nightshift.rehearsal.report.textstrip import LEGEND, text_strips
from nightshift.rehearsal.report.words import Clock, clean, count, number, signed_usd, usd
from nightshift.rehearsal.story import Event, Story

Say = Callable[[str], None]
LOUD = frozenset(
    (
        "missed",
        "no-capacity",
        "ready",
        "boot-failed",
        "resume",
        "notice",
        "ended",
        "alarm",
        "policy",
        "suspended",
        "override",
        "fault",
        "healed",
        "finished",
        "broken",
    )
)
"""The kinds of event that a waiting person hears of."""
_EACH = 15 * 86_400
"""Of a rehearsal of fewer seconds each loud event is told, of a longer one only how far it is."""
_MOST_LINES = 150
_PAUSE_S = 2.0
_TOPIC = 9
_MOST_SHIFTS = 12
_CENT = 0.005


class Progress:
    """Called with every event, says some of them: never more than a person can follow.

    `start` and `end` are the rehearsed time's; `now` is a clock in seconds that only runs forward.
    """

    def __init__(
        self, say: Say, timezone: str, start: int, end: int, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._say = say
        self._clock = Clock(timezone)
        self._start, self._end = start, end
        self._now = now
        self._told = 0
        self._last = now()
        self._before: tuple[str | None, str] = (None, "")
        self._faults = 0

    def __call__(self, event: Event) -> None:
        """Hear of an event."""
        self._faults += event.kind == "fault"
        if event.kind == "broken" or self._worth_a_line(event):
            self._line(event)
        elif self._now() - self._last >= _PAUSE_S:
            self._how_far(event.at)

    def _worth_a_line(self, event: Event) -> bool:
        return event.kind in LOUD and self._end - self._start < _EACH and self._told < _MOST_LINES

    def _line(self, event: Event) -> None:
        about = f"{event.group + ': ' if event.group else ''}{event.says}"
        sort = (event.group, event.kind if event.kind == "no-capacity" else about)
        if sort != self._before:
            self._speak(f"{self._clock.when(event.at)}  {about}")
            self._told += 1
        self._before = sort

    def _how_far(self, at: int) -> None:
        share = 100 * (at - self._start) // max(1, self._end - self._start)
        self._speak(
            f"{self._clock.when(at)}  {share} % of the time played, {count(self._faults, 'fault')} so far"
        )

    def _speak(self, text: str) -> None:
        self._last = self._now()
        self._say(short(clean(text)))


def short(line: str, room: int = WIDTH) -> str:
    """The line, cut where it's too long."""
    return line if len(line) <= room else f"{line[: room - 1]}…"


def summary(story: Story) -> tuple[str, ...]:
    """What came of it: the verdict, the weeks, what went wrong, and the sums."""
    told = nights(story)
    head = headline(story, told)
    clock = Clock(story.timezone)
    lines = wrap(
        f"{story.stack}: {lasted(story)} from {clock.day(story.start)}, {story.timezone}",
        2,
    )
    lines += [*wrap(head.rehearsed, 2), "", *wrap(head.sentence, 2), ""]
    lines += [*_strips(story, told), *_troubles(story, told)]
    for topic, says in _topics(story, told):
        lines += wrap(says, _TOPIC, f"{topic:<{_TOPIC}}")
    return tuple(clean(line) for line in [*lines, *_problems(story), *_again(story)])


def _strips(story: Story, told: Sequence[Night]) -> list[str]:
    drawn = text_strips(story, told)
    return [*drawn, LEGEND, ""] if drawn else []


def _troubles(story: Story, told: Sequence[Night]) -> list[str]:
    """Every shift in which something went wrong, the worst first, and why."""
    clock = Clock(story.timezone)
    bad = sorted(
        (night for night in told if night.worth_telling), key=lambda night: WORTH_TELLING.index(night.verdict)
    )
    lines: list[str] = []
    for night in bad[:_MOST_SHIFTS]:
        lost = f", {count(night.steps_lost, 'step')} lost" if night.steps_lost else ""
        lines += wrap(
            f"{SHOWN[night.verdict]:<11}{night.group}, {clock.span(night.start, night.end)}{lost}", 11
        )
        reasons = [*night.why, *_lacks(story, night)]
        lines += [piece for why in reasons for piece in wrap(why, 11, " " * 11)]
    if len(bad) > _MOST_SHIFTS:
        lines.append(f"{'':11}and {count(len(bad) - _MOST_SHIFTS, 'more shift')}")
    alone = outside(story)
    if alone:
        ids = ", ".join(node.id for node in alone[:_MOST_SHIFTS])
        lines += wrap(f"{'warning':<11}outside every shift there were {count(len(alone), 'node')}: {ids}", 11)
    return [*lines, ""] if lines else []


def _lacks(story: Story, night: Night) -> list[str]:
    says = gaps.without(night, story.start, stop(story))
    return [says] if says else []


def _topics(story: Story, told: Sequence[Night]) -> list[tuple[str, str]]:
    bill, real = story.bill, story.real_nodes
    checked = sum(one.checked for one in story.invariants)
    good = sum(1 for fault in story.faults if fault.ok)
    well = as_planned(told)
    return [
        ("shifts", f"{well} of {len(told)} as planned" if told else "none in this time"),
        (
            "steps",
            f"{number(story.steps_lost)} lost {lost_says(story)}"
            if story.steps_trained
            else lost_says(story),
        ),
        ("cost", f"{usd(bill.usd)} would have been billed: {cost_says(story)}{_because(story)}"),
        ("nodes", f"{number(real)} real, {number(len(story.nodes) - real)} modelled, {_billed(story)}"),
        ("faults", f"{good} of {len(story.faults)} ended as they must" if story.faults else "none"),
        (
            "rules",
            f"{len(story.invariants)}, looked at {count(checked, 'time')}: {len(story.broken)} broken; "
            f"{story.two_writer_seconds} s of two nodes writing to one volume",
        ),
        ("seed", str(story.seed)),
    ]


def _told(clock: Clock, event: Event) -> str:
    about = f"{event.group} {event.kind}" if event.group else event.kind
    return f"{clock.second(event.at)}  {about}: {event.says}"


def _again(story: Story) -> list[str]:
    """The command that plays it again, to be pasted."""
    command = story.broken[0].replay if story.broken else story.replay
    return ["", "again:", *continued(command)] if command else []


def continued(command: str) -> list[str]:
    """A command on as many lines as it needs, which a shell reads as one."""
    lines, line = [], ""
    for word in command.split(" "):
        piece = f"{line} {word}" if line else word
        if line and len(piece) > WIDTH - 2:
            lines.append(f"{line} \\")
            piece = word
        while len(piece) > WIDTH - 2:
            lines.append(f"{piece[: WIDTH - 1]}\\")
            piece = piece[WIDTH - 1 :]
        line = piece
    return [*lines, line]


def _because(story: Story) -> str:
    """The largest reason for which bill and forecast differ, over all groups."""
    sums: dict[str, float] = {}
    for one in story.bill.differences:
        sums[one.why] = sums.get(one.why, 0.0) + one.usd
    why = max(sums, key=lambda each: abs(sums[each]), default="")
    return f"; the largest reason: {signed_usd(sums[why])}, {why}" if why and abs(sums[why]) >= _CENT else ""


def _billed(story: Story) -> str:
    bill = story.bill
    return f"{count(bill.billed_minutes, 'billed minute')} (forecast {number(bill.forecast_minutes)})"


def _problems(story: Story) -> list[str]:
    """Each broken rule with what was seen and how to replay it; each fault that ended otherwise."""
    clock = Clock(story.timezone)
    lines: list[str] = []
    for one in story.broken:
        lines += wrap(f"problem  {clock.second(one.at)}, {one.rule}: {one.says}", 9)
        earlier = [event for event in one.before if event.kind != "broken"]
        lines += [short(f"{'':9}{_told(clock, event)}") for event in earlier[-5:]]
    for fault in story.faults:
        if not fault.ok:
            lines += wrap(f"problem  {fault.fault} didn't end as it must: {fault.ended}", 9)
    return ["", *lines] if lines else []

"""When each group comes up and goes down, in local time and UTC; nights on which clocks change are flagged.

Overrides are read from the site's bucket where there are AWS credentials; --offline leaves them out.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from nightshift.cli.answer import Answer
from nightshift.cli.context import Context
from nightshift.cli.errors import FINE, PROBLEM, UsageError
from nightshift.cli.overrides import Overrides, try_overrides
from nightshift.cli.site import calendars, event_data, override_data, override_lines
from nightshift.cli.strip import week_strip
from nightshift.cli.text import table, wrap
from nightshift.cli.turns import wrong_turns
from nightshift.cli.when import ahead, iso, parse_until, utc_text
from nightshift.plan.calendar import Calendar, Event
from nightshift.plan.instants import local_text, zone_of
from nightshift.records.model import OverrideRecord

if TYPE_CHECKING:
    from nightshift.cli.live import LiveGroup
    from nightshift.settings.models import Stack

FLAGS = {"gap": "clocks skip this time", "fold": "this time comes twice"}


@dataclass(frozen=True)
class Facts:
    """What the answer is made of. `unread` is why the overrides aren't known, None when they are; so is
    `unchecked` for the groups in AWS, `live`.
    """

    stack: Stack
    now: datetime
    until: datetime
    overrides: Mapping[str, OverrideRecord]
    unread: str | None
    live: Mapping[str, LiveGroup] = field(default_factory=dict)
    unchecked: str | None = None


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's own options."""
    span = parser.add_mutually_exclusive_group()
    span.add_argument("--weeks", type=int, default=1, help="how many weeks to list, 1 to 53; default 1")
    span.add_argument("--until", help='list up to this time, such as "2026-12-24 00:00"')
    parser.add_argument("--offline", action="store_true", help="leave overrides out, ask AWS nothing")


def run(args: argparse.Namespace, here: Context) -> Answer:
    """Read the stack and the overrides."""
    if not 1 <= args.weeks <= 53:
        raise UsageError(f"--weeks: given {args.weeks}, expected 1 to 53")
    file = here.file(args.stack)
    stack, now = here.stack(file), here.now()
    until = now + timedelta(weeks=args.weeks)
    if args.until:
        until = parse_until(args.until, now, stack.site.timezone)
    found = Overrides(unread="--offline") if args.offline else try_overrides(here, file, stack)
    return answer(Facts(stack, now, until, found.records, found.unread, found.live, found.unchecked))


def answer(facts: Facts) -> Answer:
    """The coming events as lines and data."""
    groups = calendars(facts.stack, facts.overrides)
    events = sorted(
        ((event, name) for name, one in groups.items() for event in one.events(facts.now, facts.until)),
        key=lambda pair: (pair[0].at, pair[1]),
    )
    lines = [*_head(facts), "", *_groups(facts, groups), "", *_strip(facts, groups)]
    wrong = [
        says
        for name, live in facts.live.items()
        for says in wrong_turns(groups[name], live, facts.now)
        if facts.unread is None
    ]
    lines += ["", *_events(events), *_unread(facts), *_wrong(wrong)]
    return Answer(tuple(lines), _data(facts, groups, events, wrong), PROBLEM if wrong else FINE)


def _head(facts: Facts) -> list[str]:
    zone = zone_of(facts.stack.site.timezone)
    now, until = local_text(facts.now, zone), local_text(facts.until, zone)
    return wrap(f"{facts.stack.name}: now {now} ({utc_text(facts.now)}), listed until {until}", 2)


def _groups(facts: Facts, groups: Mapping[str, Calendar]) -> list[str]:
    rows = []
    for name, one in groups.items():
        nodes = f"{one.nodes} node" if one.nodes == 1 else f"{one.nodes} nodes"
        rows.append([name, "up" if one.is_up(facts.now) else "down", nodes, _next(facts, one)])
    spoken = [
        line
        for name, one in groups.items()
        for line in override_lines(name, facts.overrides.get(name), one, facts.now)
    ]
    return [*table(["GROUP", "NOW", "WHEN UP", "NEXT"], rows), *spoken]


def _next(facts: Facts, one: Calendar) -> str:
    event = one.next_event(facts.now)
    return f"{event.kind} {event.local}, in {ahead(event.at - facts.now)}" if event else "no change"


def _strip(facts: Facts, groups: Mapping[str, Calendar]) -> list[str]:
    return week_strip(groups, facts.now, facts.stack.site.timezone)


def _events(events: list[tuple[Event, str]]) -> list[str]:
    if not events:
        return ["no events in this time"]
    rows = [[event.local, utc_text(event.at), name, _change(event), _note(event)] for event, name in events]
    return table(["LOCAL", "UTC", "GROUP", "EVENT", "NOTE"], rows)


def _change(event: Event) -> str:
    return f"up {event.desired}" if event.kind == "up" else "down"


def _note(event: Event) -> str:
    notes = [FLAGS[flag] for flag in event.flags]
    return ", ".join(["override", *notes] if event.cause == "override" else notes)


def _unread(facts: Facts) -> list[str]:
    if facts.unread is not None:
        return ["", *wrap(f"These are the shifts alone; overrides weren't read: {facts.unread}.", 2)]
    if facts.unchecked is not None:
        return ["", *wrap(f"Whether AWS's actions follow them isn't known: {facts.unchecked}.", 2)]
    return []


def _wrong(found: list[str]) -> list[str]:
    return ["", *(line for says in found for line in wrap(f"problem  {says}", 9))] if found else []


def _data(
    facts: Facts, groups: Mapping[str, Calendar], events: list[tuple[Event, str]], wrong: list[str]
) -> dict[str, object]:
    return {
        "stack": facts.stack.name,
        "now": iso(facts.now),
        "until": iso(facts.until),
        "overrides_read": facts.unread is None,
        "problems": wrong,
        "groups": [
            {
                "name": name,
                "timezone": one.zone,
                "nodes": one.nodes,
                "up_now": one.is_up(facts.now),
                "next": event_data(one.next_event(facts.now)),
                "override": override_data(facts.overrides.get(name), facts.now),
            }
            for name, one in groups.items()
        ],
        "events": [{"group": name, **(event_data(event) or {})} for event, name in events],
    }

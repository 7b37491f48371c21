"""What a group's jobs printed, on all of its nodes, in order of time and in the group's time zone.

Without --since: the newest 100 lines that are kept. Lines reach the log within seconds; ranks aren't told
apart, a line stands as it was printed.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from nightshift.cli.answer import Answer
from nightshift.cli.context import Context
from nightshift.cli.errors import FINE, PROBLEM, NotDeployed, UsageError
from nightshift.cli.log_lines import LogLine, Printer
from nightshift.cli.log_reading import POLL_S, Follower, Query, Reader, stream_names
from nightshift.cli.site import known_groups
from nightshift.cli.text import wants_colour, wrap
from nightshift.cli.when import iso, parse_past
from nightshift.plan import names
from nightshift.plan.instants import local_text, zone_of

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from nightshift.settings.models import Stack

LINES = 100
MOST_LINES = 100_000
FIRST = datetime(2024, 1, 1, tzinfo=UTC)
"""CloudWatch Logs reads backwards no further (FilterLogEvents, startFromHead)."""
_NODE = re.compile(r"i-[0-9a-f]{8,17}")
_PART = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@dataclass(frozen=True)
class Asked:
    """What to read. `lines` None: all between `since` and `until`; `until` None: up to now."""

    group: str
    since: datetime
    until: datetime | None
    lines: int | None
    node: str | None = None
    part: str | None = None
    follow: bool = False
    note: str = ""


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's own options."""
    parser.add_argument("group", metavar="GROUP")
    parser.add_argument("--node", metavar="ID", help="of this node alone, also one that is gone")
    parser.add_argument("--stream", metavar="S", help="of this stream of each node; a job's is called job")
    parser.add_argument("--since", metavar="T", help='such as "2h", "07:00", "mon 20:00", "2026-12-07 20:00"')
    parser.add_argument("--until", metavar="T", help="the same; default: now")
    parser.add_argument(
        "--lines", metavar="N", type=int, help=f"the newest N; default without --since: {LINES}"
    )
    parser.add_argument("-f", "--follow", action="store_true", help="go on with what is new, until Ctrl-C")


def run(args: argparse.Namespace, here: Context) -> Answer:
    """Read the group's streams."""
    file = here.file(args.stack)
    stack = here.stack(file)
    asked = decide(args, stack, here.now())
    client = here.connect(file, stack).client("logs")
    query = query_of(stack, asked)
    if asked.note:
        for line in wrap(asked.note, 2):
            here.say(line)
    if asked.until is not None and asked.until < asked.since:
        return _too_old(args, stack, asked, asked.until, here)
    try:
        if args.json:
            told = _as_data(stack, asked, read(client, query, asked, here))
            if told.data["events"]:
                return told
            words, code = nothing(client, stack, asked, query)
            return replace(told, data={**told.data, "why": joined(words)}, code=code)
        return _as_lines(client, stack, asked, query, here)
    except client.exceptions.ResourceNotFoundException:
        raise NotDeployed(stack.name, f"log group {query.group}") from None


def decide(args: argparse.Namespace, stack: Stack, now: datetime) -> Asked:
    """The options as values. Raises UsageError with every problem."""
    (group,) = known_groups(stack, [args.group])
    zone = stack.groups[group].timezone or stack.site.timezone
    problems = list(_problems(args))
    since, until = (
        _time(option, text, now, zone, problems)
        for option, text in (("--since", args.since), ("--until", args.until))
    )
    if since is not None and until is not None and since > until:
        problems.append(f"--since: {args.since!r} is after --until {args.until!r}")
    if problems:
        raise UsageError(*problems)
    kept = max(FIRST, now - timedelta(days=stack.site.log_days))
    gone = f"lines are kept for {stack.site.log_days} days (site.log_days): older ones are gone"
    return Asked(
        group=group,
        since=max(since or kept, kept),
        until=until,
        lines=args.lines or (LINES if since is None else None),
        node=args.node,
        part=args.stream,
        follow=args.follow,
        note=gone if since is not None and since < kept and not (until and until < kept) else "",
    )


def _problems(args: argparse.Namespace) -> Iterator[str]:
    if args.node is not None and not _NODE.fullmatch(args.node):
        yield f"--node: given {args.node!r}, expected an instance id such as i-0123456789abcdef0"
    if args.stream is not None and not _PART.fullmatch(args.stream):
        yield f"--stream: given {args.stream!r}, expected a stream's last part, such as job"
    if args.lines is not None and not 0 < args.lines <= MOST_LINES:
        yield f"--lines: given {args.lines}, expected 1 to {MOST_LINES}"
    if args.follow and args.until is not None:
        yield "--follow has no end, so it takes no --until"
    if args.follow and args.json:
        yield "--follow has no end, and --json is one object: leave one of them out"


def _time(option: str, text: str | None, now: datetime, zone: str, problems: list[str]) -> datetime | None:
    try:
        return None if text is None else parse_past(option, text, now, zone)
    except UsageError as error:
        problems += error.lines
        return None


def query_of(stack: Stack, asked: Asked) -> Query:
    """Where these lines lie. A node's own streams begin with its id."""
    prefix = f"{names.log_stream_prefix(stack.name, asked.group)}/"
    if asked.node:
        prefix += f"{asked.node}/"
        prefix += asked.part or ""
    until = None if asked.until is None else _ms(asked.until)
    return Query(names.log_group_name(stack.name), prefix, _ms(asked.since), until)


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def read(client: Any, query: Query, asked: Asked, here: Context) -> Iterator[list[LogLine]]:
    """The lines asked for, page by page."""
    reader = Reader(client, here.say)
    if asked.lines is not None and asked.part is None:
        yield reader.last(query, asked.lines)
    elif asked.lines is not None:
        yield [line for page in reader.pages(query) for line in _of(asked, page)][-asked.lines :]
    else:
        for page in reader.pages(query):
            yield list(_of(asked, page))


def _of(asked: Asked, page: Iterable[LogLine]) -> Iterator[LogLine]:
    return (line for line in page if asked.part in (None, line.part))


def _as_data(stack: Stack, asked: Asked, pages: Iterator[list[LogLine]]) -> Answer:
    events = [
        {"id": line.id, "at": f"{line.at:%Y-%m-%dT%H:%M:%S}.{line.ms % 1000:03d}Z", "node": line.node}
        | {"stream": line.part, "text": line.text}
        for page in pages
        for line in page
    ]
    data = {"stack": stack.name, "group": asked.group, "since": iso(asked.since), "events": events}
    return Answer((), {**data, "until": iso(asked.until) if asked.until else None, "why": None})


def joined(lines: Iterable[str]) -> str:
    """Wrapped lines as the sentence that they were."""
    return " ".join(line.strip() for line in lines)


def _too_old(args: argparse.Namespace, stack: Stack, asked: Asked, until: datetime, here: Context) -> Answer:
    """The answer where `until` is before all that is kept: AWS isn't asked."""
    zone = _zone(stack, asked.group)
    words = wrap(
        f"{asked.group}: no line is left up to {local_text(until, zone)}: the oldest that is kept is "
        f"of {local_text(asked.since, zone)} or later (site.log_days: {stack.site.log_days})",
        2,
    )
    if not args.json:
        for line in words:
            here.say(line)
    told = _as_data(stack, asked, iter(()))
    return replace(told, data={**told.data, "why": joined(words)})


def _zone(stack: Stack, group: str) -> ZoneInfo:
    return zone_of(stack.groups[group].timezone or stack.site.timezone)


def _as_lines(client: Any, stack: Stack, asked: Asked, query: Query, here: Context) -> Answer:
    group = stack.groups[asked.group]
    zone = _zone(stack, asked.group)
    colours = wants_colour(sys.stdout, here.env)
    printer = Printer(zone, colours=colours, several=group.nodes > 1 and asked.node is None)
    shown: list[LogLine] = []
    try:
        for page in read(client, query, asked, here):
            for line in printer.lines(page):
                here.put(line)
            shown += page if asked.follow or not shown else ()
        if not shown:
            words, code = nothing(client, stack, asked, query)
            for line in words:
                here.say(line)
            if not asked.follow:
                return Answer((), {}, code)
        if asked.follow:
            follow(client, asked, query, shown, printer, here)
    except KeyboardInterrupt:
        if not asked.follow:
            raise
    return Answer((), {})


def follow(
    client: Any, asked: Asked, query: Query, shown: list[LogLine], printer: Printer, here: Context
) -> None:
    """Until Ctrl-C. What was left out before the first line stays out."""
    since = shown[0].ms if asked.lines is not None and len(shown) == asked.lines else query.since
    reader = Reader(client, here.say, tries=None)
    follower = Follower(reader, Query(query.group, query.prefix, since))
    follower.shown(shown)
    while True:
        time.sleep(POLL_S)
        for page in follower.look():
            for line in printer.lines(_of(asked, page)):
                here.put(line)


def nothing(client: Any, stack: Stack, asked: Asked, query: Query) -> tuple[list[str], int]:
    """Why there is no line, in words, and the status: 1 when such a stream was never there."""
    group = asked.group
    everywhere = f"{names.log_stream_prefix(stack.name, group)}/"
    streams = stream_names(client, query.group, everywhere)
    if not streams:
        why = "it comes with the first line of a job" if stack.groups[group].job else "it has no job"
        return wrap(f"{group} has no log yet: {why}", 2), FINE
    nodes = sorted({name.removeprefix(everywhere).partition("/")[0] for name in streams})
    parts = sorted({name.rpartition("/")[2] for name in streams})
    if asked.node is not None and asked.node not in nodes:
        return wrap(f"{asked.node} has no log; {group} has those of {', '.join(nodes[-10:])}", 2), PROBLEM
    if asked.part is not None and asked.part not in parts:
        return wrap(f"no stream {asked.part}; {group} has {', '.join(parts)}", 2), PROBLEM
    zone = _zone(stack, group)
    until = f" to {local_text(asked.until, zone)}" if asked.until else " on"
    return wrap(f"{group}: no line from {local_text(asked.since, zone)}{until}", 2), FINE

"""A volume from a snapshot: the snapshots there are, and the steps back to one. Nothing is changed.

--drill tries it: a scratch volume is made of the snapshot, looked at, and deleted again.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from nightshift.cli import restoring, tagged
from nightshift.cli.answer import Answer
from nightshift.cli.context import Context
from nightshift.cli.errors import FINE, PROBLEM, CliError, UsageError
from nightshift.cli.restoring import Found, Snapshot, read_snapshot
from nightshift.cli.text import command_lines, table, wrap
from nightshift.cli.verb_retire import plain_name, read_candidates
from nightshift.cli.when import ahead, iso
from nightshift.plan import names
from nightshift.plan.instants import local_text, zone_of

if TYPE_CHECKING:
    from nightshift.cli.drill import Outcome
    from nightshift.settings.models import Stack

LISTED = 20
_ID = re.compile(r"snap-[0-9a-f]{8,17}")


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's own options."""
    parser.add_argument("volume", metavar="VOLUME", help="name of the volume, also one that is gone")
    parser.add_argument("--snapshot", metavar="ID", help="this one; default: the newest")
    parser.add_argument("--index", type=int, help="which one of a pool")
    parser.add_argument("--drill", action="store_true", help="make a scratch volume of it, delete it again")


def run(args: argparse.Namespace, here: Context) -> Answer:
    """List, choose, tell the steps or drill."""
    plain_name(args.volume)
    file = here.file(args.stack)
    stack = here.stack(file)
    if args.snapshot is not None and not _ID.fullmatch(args.snapshot):
        raise UsageError(
            f"--snapshot: given {args.snapshot!r}, expected an id such as snap-0123456789abcdef0"
        )
    ec2 = here.connect(file, stack).client("ec2")
    found = gather(ec2, stack, args.volume)
    restoring.known_index(stack, found, args.index)
    wanted = _wanted(ec2, found, args.snapshot)
    now = here.now()
    try:
        chosen = restoring.choose(found, wanted, args.index)
    except CliError as error:
        if wanted is not None or isinstance(error, UsageError):
            raise
        says = (*error.lines, restoring.none_yet(stack, args.volume))
        lines = (*_table(stack, found, now), *(piece for line in says for piece in wrap(line, 2)))
        return Answer(lines, _data(stack, found, None, args.index, now, says), PROBLEM)
    index = restoring.place(stack, found, chosen, args.index)
    if not args.drill:
        return answer(stack, found, chosen, index, now)
    from nightshift.cli.drill import Drill

    outcome = Drill(ec2, stack, here.say).run(args.volume, chosen, now)
    return drilled(stack, found, chosen, outcome, index, now)


def gather(ec2: Any, stack: Stack, volume: str) -> Found:
    """The live volumes of the name and every snapshot of them, or that bears their tags, newest first.

    Raises UsageError for a name that stands neither in the file nor on anything.
    """
    live = read_candidates(ec2, stack.name, volume)
    ours = {names.TAG_SITE: stack.name, names.TAG_VOLUME: volume}
    made = read_snapshots(ec2, tagged.filters(ours))
    snapshots = {one.id: one for one in made if (one.site, one.name) == (stack.name, volume)}
    if live:
        by_id = read_snapshots(ec2, [{"Name": "volume-id", "Values": [one.id for one in live]}])
        snapshots |= {one.id: one for one in by_id}
    if not live and not snapshots and volume not in stack.volumes:
        raise UsageError(f"no volume {volume} in this stack: it has {', '.join(stack.volumes) or 'none'}")
    pool = any(one.pooled for one in live) or any(one.index is not None for one in snapshots.values())
    if volume in stack.volumes:
        pool = stack.volumes[volume].per == "node"
    if pool:
        places = {one.id: one.index for one in live}
        for one in [one for one in snapshots.values() if one.index is None]:
            snapshots[one.id] = replace(one, index=places.get(one.volume))
    newest = sorted(snapshots.values(), key=lambda one: (one.began, one.id), reverse=True)
    return Found(volume, live, newest, pool)


def read_snapshots(ec2: Any, filters: Sequence[object]) -> list[Snapshot]:
    """This account's own ones that fit."""
    pages = ec2.get_paginator("describe_snapshots").paginate(OwnerIds=["self"], Filters=filters)
    return [read_snapshot(raw) for page in pages for raw in page["Snapshots"]]


def _wanted(ec2: Any, found: Found, asked: str | None) -> Snapshot | None:
    """The snapshot asked for, also one without our tags. Raises UsageError when there is none."""
    if asked is None:
        return None
    known = [one for one in found.snapshots if one.id == asked]
    known = known or read_snapshots(ec2, [{"Name": "snapshot-id", "Values": [asked]}])
    if not known:
        raise UsageError(f"--snapshot: {asked} isn't in this account and region")
    return known[0]


def answer(stack: Stack, found: Found, chosen: Snapshot, index: int | None, now: datetime) -> Answer:
    """The table and the steps; status 1 when the newest snapshot is older than promised."""
    problems = [says for says in (restoring.stale(stack, found, index, now),) if says]
    lines = [*_table(stack, found, now), "", *_steps(stack, found, chosen, index, now)]
    lines += [piece for says in problems for piece in wrap(f"problem  {says}", 9)]
    data = _data(stack, found, chosen, index, now, problems)
    return Answer(tuple(lines), data, PROBLEM if problems else FINE)


def _table(stack: Stack, found: Found, now: datetime) -> list[str]:
    if not found.snapshots:
        return []
    zone = zone_of(stack.site.timezone)
    pooled = any(one.index is not None for one in found.snapshots)
    rows = []
    for one in found.snapshots[:LISTED]:
        state = one.state if one.state != "completed" else one.tier
        by = one.by if one.usable else f"{one.by}, {state}"
        index = [str(one.index) if one.index is not None else "-"] if pooled else []
        began = local_text(one.began, zone)
        size = f"{one.size_gib} GiB"
        rows.append([one.id, *index, began, ahead(now - one.began), size, by])
    head = ["SNAPSHOT", *(["INDEX"] if pooled else []), "BEGUN", "AGE", "SIZE", "BY"]
    lines = table(head, rows, right=(len(head) - 2,))
    if len(found.snapshots) > LISTED:
        lines.append(f"and {len(found.snapshots) - LISTED} older ones; --json has them all")
    return lines


def _steps(stack: Stack, found: Found, chosen: Snapshot, index: int | None, now: datetime) -> list[str]:
    what = found.volume if index is None else f"{found.volume} index {index}"
    age, other = ahead(now - chosen.began), restoring.foreign(stack, found, chosen)
    if other:
        lines = [
            *wrap(f"warning  {other}", 9),
            *wrap(f"{what} made of it, {age} old; nothing is changed yet:", 2),
        ]
    else:
        lines = wrap(f"{what} back as it was {age} ago, from {chosen.id}; nothing is changed yet:", 2)
    for number, (why, command) in enumerate(restoring.steps(stack, found, chosen, index, now), 1):
        lines += wrap(f"{number}. {why}", 3)
        shown = command_lines(command, 5) if command else restoring.edit(stack, found.volume, chosen)
        lines += shown if command else [f"     {line}" for line in shown]
    if last := restoring.afterwards(stack, found):
        lines += wrap(last, 2)
    return lines


def drilled(
    stack: Stack, found: Found, chosen: Snapshot, outcome: Outcome, index: int | None, now: datetime
) -> Answer:
    """What the drill proved and what it didn't; status 1 when something was wrong or the snapshot is old."""
    from nightshift.cli.drill import cents

    other = restoring.foreign(stack, found, chosen)
    problems = [f"the scratch volume of {chosen.id}: {says}" for says in outcome.wrong]
    problems += [says for says in (restoring.stale(stack, found, index, now),) if says]
    seconds = f"{outcome.seconds:.0f} s"
    lines = wrap(f"warning  {other}", 9) if other else []
    lines += wrap(
        f"drill: {chosen.id}, {ahead(now - chosen.began)} old, became {outcome.volume} in "
        f"{stack.site.zone} in {seconds}; it is deleted again",
        2,
    )
    if not outcome.wrong:
        lines += wrap(
            f"proved: AWS makes an encrypted volume of {chosen.size_gib} GiB of it here, fit to be attached",
            2,
        )
    lines += wrap("not proved: what is on it; no file was read and no filesystem mounted", 2)
    lines += wrap(f"cost: {cents(outcome.usd)}", 2)
    lines += [piece for says in problems for piece in wrap(f"problem  {says}", 9)]
    told = {
        "volume": outcome.volume,
        "seconds": round(outcome.seconds, 1),
        "usd": round(float(outcome.usd), 6),
        "removed": list(outcome.removed),
    }
    data = {**_data(stack, found, chosen, index, now, problems), "drill": told}
    return Answer(tuple(lines), data, PROBLEM if problems else FINE)


def _data(
    stack: Stack,
    found: Found,
    chosen: Snapshot | None,
    index: int | None,
    now: datetime,
    problems: Sequence[str],
) -> dict[str, object]:
    steps = restoring.steps(stack, found, chosen, index, now) if chosen else []
    return {
        "stack": stack.name,
        "volume": found.volume,
        "index": index,
        "live": [{"id": one.id, "index": one.index, "node": one.node} for one in found.live],
        "snapshots": [_snapshot_data(one, now) for one in found.snapshots],
        "chosen": chosen.id if chosen else None,
        "foreign": restoring.foreign(stack, found, chosen) if chosen else None,
        "edit": restoring.edit(stack, found.volume, chosen) if chosen else [],
        "edit_at": [command for _, command in steps].index("") if chosen else None,
        "commands": [command for _, command in steps if command],
        "afterwards": restoring.afterwards(stack, found) if chosen else None,
        "drill": None,
        "problems": list(problems),
    }


def _snapshot_data(one: Snapshot, now: datetime) -> dict[str, object]:
    return {
        "id": one.id,
        "began": iso(one.began),
        "age_hours": round((now - one.began).total_seconds() / 3600, 1),
        "size_gib": one.size_gib,
        "encrypted": one.encrypted,
        "state": one.state,
        "tier": one.tier,
        "volume": one.volume,
        "index": one.index,
        "by": one.by,
    }

"""What runs now and what comes next: groups, nodes, volumes, overrides, checkpoints, and what is wrong."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nightshift.cli.answer import Answer
from nightshift.cli.context import Context
from nightshift.cli.errors import FINE, PROBLEM
from nightshift.cli.live import LiveGroup, LiveNode
from nightshift.cli.site import calendars, event_data, override_data, override_lines
from nightshift.cli.status_facts import Disk, StatusFacts, gather
from nightshift.cli.text import table, wrap
from nightshift.cli.verdicts import Verdict, judge
from nightshift.cli.when import ahead, iso, utc_text
from nightshift.plan.calendar import Calendar
from nightshift.plan.instants import local_text, zone_of

if TYPE_CHECKING:
    from nightshift.settings.models import Stack

_PENDING = ("Pending", "Warmed")
_LEAVING = ("Terminating", "Terminated", "Detaching")


def options(parser: argparse.ArgumentParser) -> None:
    """The verb has none of its own."""
    del parser


def run(args: argparse.Namespace, here: Context) -> Answer:
    """Read the stack file and AWS."""
    file = here.file(args.stack)
    stack = here.stack(file)
    return answer(stack, gather(here.connect(file, stack), stack, here.now()))


def answer(stack: Stack, facts: StatusFacts) -> Answer:
    """The site's state as lines and data."""
    groups = calendars(stack, facts.spoken.overrides)
    verdicts = judge(facts, groups)
    lines = [*_head(stack, facts), "", *_groups(stack, facts, groups)]
    lines += _section(_nodes(facts)) + _section(_notes(stack, facts, groups)) + _section(_volumes(facts))
    lines += _section(_verdicts(stack, facts, verdicts))
    code = PROBLEM if any(verdict.level == "problem" for verdict in verdicts) else FINE
    return Answer(tuple(lines), _data(stack, facts, groups, verdicts), code)


def state_of(live: LiveGroup | None) -> str:
    """One word for what a group does now."""
    if live is None:
        return "not deployed"
    if any(node.state.startswith(_LEAVING) for node in live.nodes):
        return "draining"
    if not live.desired:
        return "down"
    if in_service(live) >= live.desired:
        return "up"
    return "starting" if live.nodes else "waiting"


def in_service(live: LiveGroup) -> int:
    """Nodes that passed their launch."""
    return sum(node.state == "InService" for node in live.nodes)


def _section(lines: list[str]) -> list[str]:
    return ["", *lines] if lines else []


def _head(stack: Stack, facts: StatusFacts) -> list[str]:
    now = local_text(facts.now, zone_of(stack.site.timezone))
    where = f"{stack.site.zone}, account {facts.account}"
    return wrap(f"{stack.name}: {now} ({utc_text(facts.now)}), {where}", 2)


def _groups(stack: Stack, facts: StatusFacts, groups: dict[str, Calendar]) -> list[str]:
    rows = []
    for name, calendar in groups.items():
        live = facts.groups.get(name)
        nodes = f"{in_service(live)} of {live.desired}" if live else "-"
        event = calendar.next_event(facts.now)
        following = "no change"
        if event:
            following = f"{event.kind} {event.local}, in {ahead(event.at - facts.now)}"
        rows.append([name, state_of(live), nodes, following])
    return table(["GROUP", "NOW", "NODES", "NEXT"], rows)


def _nodes(facts: StatusFacts) -> list[str]:
    rows = [
        [node.id, group.name, node.type, _doing(node.state), _ready(facts, node), _age(facts, node)]
        for group in facts.groups.values()
        for node in group.nodes
    ]
    return table(["NODE", "GROUP", "TYPE", "STATE", "READY", "FOR"], rows) if rows else []


def _doing(state: str) -> str:
    """A lifecycle state in a word that fits its column; InService and rare ones as AWS has them."""
    if state.startswith("Pending"):
        return "booting"
    return "draining" if state.startswith("Terminating") else state


def _ready(facts: StatusFacts, node: LiveNode) -> str:
    verdict = facts.spoken.readiness.get(node.id)
    if verdict is None:
        return "no verdict"
    return "yes" if verdict.ready else "NO"


def _age(facts: StatusFacts, node: LiveNode) -> str:
    machine = facts.machines.get(node.id)
    return f"{ahead(facts.now - machine.launched)} {machine.buying}" if machine else "gone"


def _notes(stack: Stack, facts: StatusFacts, groups: dict[str, Calendar]) -> list[str]:
    lines: list[str] = []
    for name, calendar in groups.items():
        zone = zone_of(calendar.zone)
        lines += override_lines(name, facts.spoken.overrides.get(name), calendar, facts.now)
        if run := facts.spoken.runs.get(name):
            done = "finished" if run.done else "unfinished"
            at = local_text(run.at, zone)
            lines += wrap(
                f"{name}: run {done}, last checkpoint step {run.step} at {at} ({run.checkpoint})", 2
            )
    return lines


def _volumes(facts: StatusFacts) -> list[str]:
    rows = [
        [_label(disk), f"{disk.size_gib} GiB", disk.state, disk.id, disk.node or "-"]
        for disk in facts.volumes
    ]
    return table(["VOLUME", "SIZE", "STATE", "ID", "ON NODE"], rows, right=(1,)) if rows else []


def _label(disk: Disk) -> str:
    return disk.name if disk.index is None else f"{disk.name} {disk.index}"


def _verdicts(stack: Stack, facts: StatusFacts, verdicts: list[Verdict]) -> list[str]:
    if not facts.groups:
        return wrap(f"not deployed: run `pulumi up -s {stack.name}`", 2)
    return [line for one in verdicts for line in wrap(f"{one.level}  {one.says}", 9)]


def _data(
    stack: Stack, facts: StatusFacts, groups: dict[str, Calendar], verdicts: list[Verdict]
) -> dict[str, object]:
    return {
        "stack": stack.name,
        "now": iso(facts.now),
        "account": facts.account,
        "region": stack.region,
        "zone": stack.site.zone,
        "deployed": bool(facts.groups),
        "groups": [_group_data(facts, name, calendar) for name, calendar in groups.items()],
        "volumes": [
            {"id": disk.id, "name": disk.name, "index": disk.index, "size_gib": disk.size_gib}
            | {"state": disk.state, "node": disk.node}
            for disk in facts.volumes
        ],
        "problems": [one.says for one in verdicts if one.level == "problem"],
        "warnings": [one.says for one in verdicts if one.level == "warning"],
    }


def _group_data(facts: StatusFacts, name: str, calendar: Calendar) -> dict[str, object]:
    live, run, failed = facts.groups.get(name), facts.spoken.runs.get(name), facts.failed.get(name)
    return {
        "name": name,
        "state": state_of(live),
        "desired": live.desired if live else 0,
        "in_service": in_service(live) if live else 0,
        "pending": sum(node.state.startswith(_PENDING) for node in live.nodes) if live else 0,
        "next": event_data(calendar.next_event(facts.now)),
        "override": override_data(facts.spoken.overrides.get(name), facts.now),
        "suspended": dict(live.suspended) if live else {},
        "last_failed_launch": {"at": iso(failed.at), "why": failed.why} if failed else None,
        "run": {"step": run.step, "checkpoint": run.checkpoint, "done": run.done, "at": iso(run.at)}
        if run
        else None,
        "nodes": [_node_data(facts, node) for node in live.nodes] if live else [],
    }


def _node_data(facts: StatusFacts, node: LiveNode) -> dict[str, object]:
    machine, verdict = facts.machines.get(node.id), facts.spoken.readiness.get(node.id)
    return {
        "id": node.id,
        "type": node.type,
        "zone": node.zone,
        "state": node.state,
        "healthy": node.healthy,
        "launched": iso(machine.launched) if machine else None,
        "buying": machine.buying if machine else None,
        "ready": verdict.ready if verdict else None,
        "failed": verdict.failed if verdict else None,
        "idle": machine.idle or None if machine else None,
    }

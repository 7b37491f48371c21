"""A run told as a story: plain values for the report, cut off where the rehearsed time ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from nightshift.rehearsal.bill.lives import LEAST_S
from nightshift.rehearsal.bill.meter import bill_of
from nightshift.rehearsal.bill.rates import HOUR, own_rate, rates_of
from nightshift.rehearsal.control.model_fleet import LONGEST_SAVE_S, SAVE_EVERY_S
from nightshift.rehearsal.control.state import GroupState, Node
from nightshift.rehearsal.faults.endings import endings
from nightshift.rehearsal.invariants.spans import overlap
from nightshift.rehearsal.replay import command
from nightshift.rehearsal.story import (
    Break,
    Curve,
    Event,
    GroupInfo,
    NodeLife,
    Phase,
    Story,
)
from nightshift.settings.to_plan import group_costs

if TYPE_CHECKING:
    from nightshift.rehearsal.weeks import Played
    from nightshift.settings.models import Stack

_BEFORE = 25
"""Events that a break tells before it."""


def story(stack: Stack, start: int, end: int, seed: int, played: Played) -> Story:
    """The story of [start, end)."""
    site = played.site
    stop = end if played.broken is None else min(end, played.broken.at)
    rates = {cost.name: rates_of(cost, stack.region, start, end) for cost in group_costs(stack)}
    nodes = [
        _life(group, node, stop, stack.region, rates[group.name].beside)
        for group in site.groups.values()
        for node in group.all_nodes()
        if node.instance.launched < stop
    ]
    replay = _replay(stack, start, end, seed, played)
    return Story(
        stack=stack.name,
        seed=seed,
        start=start,
        end=end,
        timezone=stack.site.timezone,
        groups={name: _info(stack, name, played, start, end) for name in stack.groups},
        nodes=tuple(sorted(nodes, key=lambda node: (node.launched, node.id))),
        events=tuple(event for event in site.events if event.at <= stop),
        curves={name: _curve(group, played) for name, group in site.groups.items() if group.job.resumes},
        faults=endings(site, played.judge.expected, played.struck),
        bill=bill_of(stack, site, played.expected, start, stop, played.judge.words),
        invariants=played.judge.invariants(),
        broken=tuple(_broken(played, replay)),
        seconds=round(played.seconds, 3),
        real_nodes=sum(node.real for node in nodes),
        steps_trained=sum(_trained(group) for group in site.groups.values()),
        steps_lost=sum(group.job.lost for group in site.groups.values()),
        two_writer_seconds=played.judge.two_writer_seconds,
        replay=replay,
        by_seed=played.by_seed,
    )


def _trained(group: GroupState) -> int:
    """By how many steps the job has come forward; those that were lost at its end are none of them."""
    kept = [node.steps_kept for node in group.all_nodes() if node.steps_kept is not None]
    return max(0, max(kept, default=0) - (group.job.first or 0))


def _info(stack: Stack, name: str, played: Played, start: int, end: int) -> GroupInfo:
    group, expected = played.site.groups[name].group, played.judge.expected.groups[name]
    market = "spot" if group.on_demand_percent < 100 else "on demand"
    market = "capacity block" if group.reservation else market
    cost = next(each for each in group_costs(stack) if each.name == name)
    rates = rates_of(cost, stack.region, start, end)
    return GroupInfo(
        zone=expected.zone,
        kind=f"{market}: {', '.join(group.types)}",
        nodes=expected.nodes,
        windows=tuple(span for span in expected.windows if overlap(span, (start, end))),
        save_s=LONGEST_SAVE_S if group.manifest.job else 0,
        modelled_save_s=0 if group.manifest.job is None or played.site.fleet.real(name) else SAVE_EVERY_S,
        hourly_usd=float(round(rates.usual + rates.beside, 4)),
        overrides=tuple(played.judge.words.get(name, ())),
    )


def _life(group: GroupState, node: Node, stop: int, region: str, beside: Decimal) -> NodeLife:
    one = node.instance
    over = node.ended is not None and node.ended <= stop
    billed = max(LEAST_S, (node.ended if node.ended is not None and over else stop) - one.launched)
    return NodeLife(
        id=one.id,
        group=group.name,
        type=one.type,
        market=one.market,
        real=node.real,
        launched=one.launched,
        ended=node.ended if over else None,
        how=node.how if over else "alive",
        why=node.why if over else "",
        phases=tuple(_phases(node, stop)),
        steps_from=node.steps_from,
        steps_to=node.steps_to,
        steps_kept=node.steps_kept,
        billed_s=billed,
        usd=float(round(billed * (own_rate(one.type, one.market, region) + beside) / HOUR, 4)),
    )


def _phases(node: Node, stop: int) -> Iterator[Phase]:
    """What lies within the rehearsed time, and what it was doing when that ended."""
    last = node.instance.launched
    for phase in node.phases:
        if phase.start < stop:
            yield replace(phase, end=min(phase.end, stop))
            last = min(phase.end, stop)
    if (node.ended is None or node.ended > stop) and last < stop:
        yield Phase("boot" if node.ready_at is None else "train", last, stop)


def _curve(group: GroupState, played: Played) -> Curve:
    job = group.job
    return Curve(tuple(job.points), tuple(job.resumes), played.site.fleet.real(group.name))


def _broken(played: Played, replay: str) -> Iterator[Break]:
    if played.broken is not None:
        before: tuple[Event, ...] = tuple(played.site.events)[-_BEFORE:]
        yield Break(played.broken.rule, played.broken.at, played.broken.says, before, replay)


def _replay(stack: Stack, start: int, end: int, seed: int, played: Played) -> str:
    """The command that plays the same again."""
    return command(stack.name, start, end, seed, played.names)

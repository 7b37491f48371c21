"""Stories as a rehearsal would leave them, small and large, for the report's tests and for looking at."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache

from nightshift.rehearsal.story import (
    Bill,
    BillLine,
    Break,
    Curve,
    Difference,
    Event,
    FaultEnd,
    GroupInfo,
    Invariant,
    NodeLife,
    Span,
    Story,
)
from tests.rehearsal.report.support.drafting import (
    DESK,
    MONDAY,
    NEW_YORK,
    SHANGHAI,
    VIT,
    Draft,
    Plan,
    fail_boot,
    instant,
    reclaim,
    serve,
    wait,
    windows,
)

RULES = (
    Invariant("one writer", "a volume is attached to one node at a time, and written by no other", 412),
    Invariant("no committed step lost", "a job goes on from its last whole save or later", 96),
    Invariant("billed hours", "no node is billed outside shift or override plus boot and drain", 412),
    Invariant("capacity", "the desired size is what calendar and override say", 412),
    Invariant("snapshots", "each policy's snapshot of a day exists", 7),
    Invariant("nothing left", "after destroy only what is kept is left", 1),
)


def story(
    draft: Draft,
    stack: str,
    plans: tuple[Plan, ...],
    monday: datetime,
    weeks: int,
    struck: dict[tuple[str, int], str],
) -> Story:
    """Plays every window of every plan; `struck` names the fault that hits a group's nth window."""
    start, end = instant(draft.zone, monday, 0), instant(draft.zone, monday + timedelta(weeks=weeks), 0)
    groups = {}
    for plan in plans:
        spans = windows(plan, draft.zone, monday, weeks)
        groups[plan.name] = GroupInfo(
            draft.zone, plan.kind, plan.nodes, spans, 1800 if plan.job else 0, plan.hourly
        )
        for at, span in enumerate(spans):
            _play(draft, plan, span, struck.get((plan.name, at)))
    for day in range(7 * weeks):
        at = instant(draft.zone, monday + timedelta(days=day), 18.6)
        draft.events.append(Event(at, "snapshot", f"{stack}.nightly: snapshot of runs taken"))
    draft.events.sort(key=lambda event: event.at)
    return Story(
        stack=stack,
        seed=draft.seed,
        start=start,
        end=end,
        timezone=draft.zone,
        groups=groups,
        nodes=tuple(sorted(draft.nodes, key=lambda node: node.launched)),
        events=tuple(draft.events),
        curves={
            name: Curve(tuple(points), tuple(draft.resumes.get(name, ())), draft.real)
            for name, points in draft.points.items()
        },
        faults=tuple(draft.faults),
        bill=bill(draft, groups, end - start),
        invariants=RULES,
        seconds=3.4 * weeks,
        real_nodes=len(draft.nodes) if draft.real else 0,
        steps_trained=sum(draft.steps.values()),
        steps_lost=draft.lost,
        provider="aws 7.51.0 behind pulumi 3.274.0",
        compressed="an hour of a shift was played in 2 s; steps are counted as the node counted them"
        if draft.real
        else "",
        replay=f"nightshift rehearse --stack {stack} --weeks {weeks} --seed {draft.seed}{_faults(draft)}",
    )


def _faults(draft: Draft) -> str:
    return f" --faults {','.join(fault.fault for fault in draft.faults)}" if draft.faults else ""


def _play(draft: Draft, plan: Plan, span: Span, fault: str | None) -> None:
    if fault is None:
        serve(draft, plan, span)
    elif fault.startswith("spot"):
        reclaim(draft, plan, span, fault, 3 * 3600, 412)
    elif fault.startswith("boot"):
        fail_boot(draft, plan, span, fault)
    else:
        wait(draft, plan, span, fault)


def bill(draft: Draft, groups: dict[str, GroupInfo], seconds: int) -> Bill:
    """Metered from the nodes; the forecast is shifts plus boot and drain."""
    lines = [
        BillLine(
            f"{name}: {info.kind.split(': ')[1].split(',')[0]}",
            billed / 3600,
            "node-hour",
            info.hourly_usd,
            billed / 3600 * info.hourly_usd,
            billed // 60,
            name,
        )
        for name, info in groups.items()
        if (billed := sum(node.billed_s for node in draft.nodes if node.group == name))
    ]
    stored = 500 * 0.08 * seconds / (30 * 86_400)
    lines.append(BillLine("volumes imagenet, runs", 500 * seconds / (30 * 86_400), "GiB-month", 0.08, stored))
    total, minutes = sum(line.usd for line in lines), sum(line.minutes for line in lines)
    planned = sum(
        len(i.windows) * i.nodes * (i.windows[0][1] - i.windows[0][0] + 600) // 60
        for i in groups.values()
        if i.windows
    )
    forecast = stored + sum(
        len(i.windows) * i.nodes * (i.windows[0][1] - i.windows[0][0] + 600) / 3600 * i.hourly_usd
        for i in groups.values()
        if i.windows
    )
    drains = (minutes - planned) * 2 // 3
    differences = (
        Difference(
            "drains were shorter than the 10 min that the forecast counts", drains, (total - forecast) * 2 / 3
        ),
        Difference(
            "nodes that failed to boot or came later", minutes - planned - drains, (total - forecast) / 3
        ),
    )
    return Bill(
        tuple(lines),
        total,
        forecast,
        stored + sum(i.hourly_usd * i.nodes for i in groups.values()) * seconds / 3600,
        minutes,
        planned,
        differences if minutes != planned else (),
    )


@lru_cache
def good_week() -> Story:
    return story(Draft(SHANGHAI, 7), "lab", (DESK, VIT), MONDAY, 1, {})


@lru_cache
def three_faults() -> Story:
    struck = {("vit", 0): "ice@mon", ("vit", 1): "spot@wed+3h", ("vit", 2): "boot-fails@fri"}
    return story(Draft(SHANGHAI, 7), "lab", (DESK, VIT), MONDAY, 1, struck)


@lru_cache
def broken_rule() -> Story:
    """Two writers after a slow detach; the rehearsal stops there."""
    whole = story(Draft(SHANGHAI, 23), "lab", (DESK, VIT), MONDAY, 1, {("vit", 1): "spot@wed+3h"})
    at = next(event.at for event in whole.events if event.kind == "notice") + 260
    says = "volume runs (vol-0abc0000000000002) is written by i-00000000000000007 and i-00000000000000008"
    event = Event(at, "broken", says, "vit", None, "spot@wed+3h")
    before = tuple(one for one in whole.events if one.at <= at)
    fault = replace(
        whole.faults[0], ok=False, ended="the old node wrote on after the volume was attached to the new one"
    )
    return replace(
        whole,
        nodes=tuple(_until(node, at) for node in whole.nodes if node.launched < at),
        real_nodes=sum(1 for node in whole.nodes if node.launched < at),
        events=(*before, event),
        faults=(fault,),
        broken=(
            Break(
                "one writer",
                at,
                says,
                before[-8:],
                "nightshift rehearse --stack lab --seed 23 --faults spot@wed+3h",
            ),
        ),
        two_writer_seconds=31,
    )


def _until(node: NodeLife, at: int) -> NodeLife:
    """The node as it stood when the rehearsal stopped."""
    if (node.ended or at) < at:
        return node
    phases = tuple(replace(one, end=min(one.end, at)) for one in node.phases if one.start < at)
    return replace(node, ended=None, how="alive", phases=phases)


@lru_cache
def year() -> Story:
    struck = {
        ("vit", at): kind
        for at, kind in (
            (4, "spot@w2"),
            (17, "ice@w6"),
            (40, "boot-fails@w14"),
            (41, "spot@w14"),
            (88, "spot@w30"),
            (120, "ice@w41"),
        )
    }
    draft = Draft(NEW_YORK, 3, real=False)
    return story(draft, "lab", (DESK, VIT), datetime(2026, 1, 5), 52, struck)


@lru_cache
def many_groups() -> Story:
    """Clocks change on the Sunday; groups of several nodes beside small ones."""
    plans = (
        replace(DESK, name="notebooks", nodes=2),
        VIT,
        replace(
            VIT,
            name="llm-pretraining-large",
            kind="capacity-block: p5.48xlarge",
            type="p5.48xlarge",
            market="capacity-block",
            days=(4, 5, 6),
            hourly=98.32,
            nodes=4,
        ),
        replace(VIT, name="eval", days=(1, 3, 6), opens=1, hours=3, type="g6.xlarge", hourly=0.8),
        replace(DESK, name="weekend", days=(5, 6), opens=0, hours=24),
    )
    struck = {("vit", 0): "spot@mon+3h", ("eval", 0): "boot-fails@tue", ("vit", 1): "ice@wed"}
    return story(Draft(NEW_YORK, 11), "team", plans, datetime(2026, 10, 26), 1, struck)


@lru_cache
def empty_week() -> Story:
    draft = Draft(SHANGHAI, 1)
    return replace(
        story(draft, "solo", (), MONDAY, 1, {}),
        groups={"solo": GroupInfo(SHANGHAI, "on-demand: g6.xlarge", 1, (), 0)},
        events=(),
        invariants=(),
    )


@lru_cache
def midweek() -> Story:
    """A week that begins and ends inside a day, one fault that never struck, an operator's word."""
    whole = three_faults()
    half = 43_200
    events = (
        *whole.events,
        Event(whole.start + 3 * 86_400 + 50_000, "override", "ana woke vit until 18:00", "vit"),
    )
    throttled = FaultEnd(
        "api-throttled@thu",
        "AWS answers every call late",
        whole.start + 3 * 86_400 + 37_000,
        None,
        "every call was tried again; nothing was late by more than 40 s",
        0,
        1,
        True,
    )
    never = FaultEnd(
        "spot@sun+1h", "AWS takes a spot node back", None, "vit", "no node was up then", 0, 0, True
    )
    vit = replace(
        whole.groups["vit"],
        overrides=((whole.start + 3 * 86_400 + 50_000, whole.start + 3 * 86_400 + 64_800, "up"),),
    )
    return replace(
        whole,
        groups={**whole.groups, "vit": vit},
        start=whole.start + half,
        end=whole.end + half,
        events=tuple(sorted(events, key=lambda event: event.at)),
        faults=(*whole.faults, throttled, never),
    )


ALL = {
    "good": good_week,
    "faults": three_faults,
    "broken": broken_rule,
    "year": year,
    "groups": many_groups,
    "empty": empty_week,
    "midweek": midweek,
}

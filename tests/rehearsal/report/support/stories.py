"""Stories as a rehearsal would leave them, small and large, for the report's tests and for looking at."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from nightshift.rehearsal.story import (
    Bill,
    BillLine,
    Break,
    Curve,
    Difference,
    Ending,
    Event,
    FaultEnd,
    GroupInfo,
    Invariant,
    NodeLife,
    Phase,
    Span,
    Story,
)

SHANGHAI, NEW_YORK = "Asia/Shanghai", "America/New_York"
MONDAY = datetime(2026, 11, 30)
RULES = (
    Invariant("one writer", "a volume is attached to one node at a time, and written by no other", 412),
    Invariant("no committed step lost", "a job goes on from its last whole save or later", 96),
    Invariant("billed hours", "no node is billed outside shift or override plus boot and drain", 412),
    Invariant("capacity", "the desired size is what calendar and override say", 412),
    Invariant("snapshots", "each policy's snapshot of a day exists", 7),
    Invariant("nothing left", "after destroy only what is kept is left", 1),
)


@dataclass(frozen=True)
class Plan:
    """A group's shifts: weekdays from Monday as 0, local hours, the money of an hour."""

    name: str
    kind: str
    type: str
    market: Literal["on-demand", "spot", "capacity-block"]
    days: tuple[int, ...]
    opens: int
    hours: int
    hourly: float
    nodes: int = 1


DESK = Plan("desk", "on-demand: g6.2xlarge", "g6.2xlarge", "on-demand", (0, 1, 2, 3, 4), 9, 9, 0.978)
VIT = Plan("vit", "spot: g6.12xlarge, g5.12xlarge", "g6.12xlarge", "spot", (0, 2, 4), 20, 11, 1.886)


@dataclass
class Draft:
    """A story in the making."""

    zone: str
    seed: int
    nodes: list[NodeLife] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    faults: list[FaultEnd] = field(default_factory=list)
    points: dict[str, list[tuple[int, int, float]]] = field(default_factory=dict)
    resumes: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=dict)
    lost: int = 0
    real: bool = True

    def event(
        self, at: int, kind: str, says: str, group: str, node: str | None = None, fault: str | None = None
    ) -> None:
        self.events.append(Event(at, kind, says, group, node, fault))

    def node(self, plan: Plan, launched: int, ended: int, how: Ending = "drained", why: str = "") -> NodeLife:
        number = len(self.nodes) + 1
        life = NodeLife(
            id=f"i-{(number * 2654435761 + self.seed) % (1 << 68):017x}",
            group=plan.name,
            type=plan.type,
            market=plan.market,
            real=self.real,
            launched=launched,
            ended=ended,
            how=how,
            why=why,
            billed_s=max(60, ended - launched),
            usd=round((ended - launched) / 3600 * plan.hourly, 4),
        )
        self.nodes.append(life)
        return life

    def settle(self, life: NodeLife, phases: list[Phase], steps: tuple[int, int] | None = None) -> None:
        at = self.nodes.index(life)
        first, last = steps or (None, None)
        self.nodes[at] = replace(life, phases=tuple(phases), steps_from=first, steps_to=last)


def instant(zone: str, day: datetime, hours: float) -> int:
    local = datetime(day.year, day.month, day.day) + timedelta(hours=hours)
    return int(local.replace(tzinfo=ZoneInfo(zone)).timestamp())


def windows(plan: Plan, zone: str, monday: datetime, weeks: int) -> tuple[Span, ...]:
    days = [monday + timedelta(days=7 * week + day) for week in range(weeks) for day in plan.days]
    return tuple(
        (instant(zone, day, plan.opens), instant(zone, day, plan.opens + plan.hours)) for day in days
    )


def train(
    draft: Draft,
    plan: Plan,
    start: int,
    end: int,
    how: Ending = "drained",
    why: str = "",
    cut: int = 0,
    fault: str | None = None,
    leads: bool = True,
) -> None:
    """One node's life: boots, goes on, saves every half hour, drains; `cut` loses so many steps.

    Of nodes that train together one `leads`: its losses are the group's.
    """
    life = draft.node(plan, start, end, how, why)
    boot = 290 + (start // 60) % 40
    drained = how == "drained"
    stop = end - 95 if drained else end
    draft.event(start, "launch", f"{plan.type} {plan.market} launched", plan.name, life.id)
    draft.event(start + boot - 60, "attach", "volume runs attached as /dev/sdf", plan.name, life.id)
    draft.event(start + boot, "ready", "passed 9 checks, in service", plan.name, life.id)
    first = draft.steps.get(plan.name, 0)
    phases, at, step = [Phase("boot", start, start + boot)], start + boot, first
    if first:
        draft.event(at, "resume", f"the job went on at step {first:,}", plan.name, life.id)
        draft.resumes.setdefault(plan.name, []).append((at, first))
    while at < stop:
        pause = min(at + 1800, stop)
        phases.append(Phase("train", at, pause))
        for moment in range(at, pause, 300):
            reached = step + (moment - at) // 2
            loss = 0.35 + 4.2 * math.exp(-reached / 60_000) + 0.05 * math.sin(reached / 97 + plan.opens)
            if leads:
                draft.points.setdefault(plan.name, []).append((moment, reached, round(loss, 4)))
        step += (pause - at) // 2
        if pause < stop or drained:
            phases.append(Phase("save", pause, min(pause + 20, end)))
        at = pause + 20
    reached = step
    if drained:
        phases.append(Phase("drain", stop + 20, end))
        draft.event(stop, "drain", "shift's end: the job saves and stops", plan.name, life.id)
    else:
        phases.append(Phase("failed", end - 30, end))
        step = max(first, reached - cut)
        draft.lost += reached - step
    draft.event(end, "ended", f"{how}{': ' + why if why else ''}", plan.name, life.id, fault)
    draft.settle(life, phases, (first, reached))
    draft.steps[plan.name] = step


def serve(draft: Draft, plan: Plan, span: Span) -> None:
    """A usual shift: scheduled actions at both ends, one node between them."""
    start, end = span
    draft.event(start + 40, "action", f"up: desired size {plan.nodes}", plan.name)
    together = draft.steps.get(plan.name, 0)
    for number in range(plan.nodes):
        draft.steps[plan.name] = together
        train(draft, plan, start + 55 + 7 * number, end + 100 + 5 * number, leads=not number)
    draft.event(end + 30, "action", "down: desired size 0", plan.name)


def reclaim(draft: Draft, plan: Plan, span: Span, fault: str, after: int, cut: int) -> None:
    """A spot node is taken back, and the next one goes on."""
    start, end = span
    struck = start + after
    draft.event(start + 40, "action", "up: desired size 1", plan.name)
    draft.event(struck - 120, "fault", "AWS takes the spot node back", plan.name, None, fault)
    draft.event(struck - 120, "notice", "spot interruption in 2 minutes", plan.name, None, fault)
    train(draft, plan, start + 55, struck, "interrupted", "spot capacity reclaimed", cut, fault)
    train(draft, plan, struck + 70, end + 100)
    draft.event(end + 30, "action", "down: desired size 0", plan.name)
    draft.faults.append(
        FaultEnd(
            fault,
            "AWS takes a spot node back with two minutes' notice",
            struck - 120,
            plan.name,
            f"the node was gone after 2 min; a new one went on from the last save, {cut} steps before",
            cut,
            7,
            True,
        )
    )


def fail_boot(draft: Draft, plan: Plan, span: Span, fault: str) -> None:
    """Three boots fail, and the alarm takes the group to zero."""
    start, end = span
    draft.event(start + 40, "action", "up: desired size 1", plan.name)
    draft.event(start + 42, "fault", "the driver check fails on every node", plan.name, None, fault)
    at = start + 55
    for _ in range(3):
        life = draft.node(plan, at, at + 240, "abandoned", "check driver.loaded failed: no NVIDIA device")
        draft.event(at, "launch", f"{plan.type} {plan.market} launched", plan.name, life.id)
        draft.event(at + 200, "boot-failed", "driver.loaded: no NVIDIA device", plan.name, life.id, fault)
        draft.event(at + 240, "ended", "abandoned by its hook", plan.name, life.id, fault)
        draft.settle(life, [Phase("boot", at, at + 200), Phase("failed", at + 200, at + 240)])
        at += 300
    draft.event(at, "alarm", f"{plan.name} not ready: ALARM", plan.name, None, fault)
    draft.event(at + 5, "policy", "stop: desired size 0", plan.name, None, fault)
    ended = (
        "3 boots failed in 20 min; the alarm took the group to zero and sent a mail, the night was given up"
    )
    draft.faults.append(
        FaultEnd(
            fault, "every boot fails its checks", start + 42, plan.name, ended, 0, (end - start) // 60, True
        )
    )


def wait(draft: Draft, plan: Plan, span: Span, fault: str) -> None:
    """AWS has no instance for a while."""
    start, end = span
    draft.event(start + 40, "action", "up: desired size 1", plan.name)
    draft.event(start + 41, "fault", "no capacity for 90 minutes", plan.name, None, fault)
    for at in range(start + 60, start + 5400, 1200):
        draft.event(
            at,
            "no-capacity",
            f"InsufficientInstanceCapacity for {plan.type} in us-east-1a",
            plan.name,
            None,
            fault,
        )
    draft.event(start + 5460, "healed", "capacity is back", plan.name, None, fault)
    train(draft, plan, start + 5500, end + 100)
    draft.event(end + 30, "action", "down: desired size 0", plan.name)
    draft.faults.append(
        FaultEnd(
            fault,
            "AWS has no capacity",
            start + 41,
            plan.name,
            "waited 91 min, which cost nothing, then trained",
            0,
            91,
            True,
        )
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
        groups[plan.name] = GroupInfo(draft.zone, plan.kind, plan.nodes, spans, 1800, plan.hourly)
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
            if name != "desk"
        },
        faults=tuple(draft.faults),
        bill=bill(draft, groups, end - start),
        invariants=RULES,
        seconds=3.4 * weeks,
        real_nodes=len(draft.nodes) if draft.real else 0,
        steps_trained=sum(step for name, step in draft.steps.items() if name != "desk"),
        steps_lost=draft.lost,
        provider="aws 7.51.0 behind pulumi 3.274.0",
        compressed="an hour of a shift was played in 2 s; steps are counted as the node counted them"
        if draft.real
        else "",
        replay=f"nightshift rehearse -s {stack} --weeks {weeks} --seed {draft.seed}",
    )


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


def good_week() -> Story:
    return story(Draft(SHANGHAI, 7), "lab", (DESK, VIT), MONDAY, 1, {})


def three_faults() -> Story:
    struck = {("vit", 0): "ice@mon", ("vit", 1): "spot@wed+3h", ("vit", 2): "boot-fails@fri"}
    return story(Draft(SHANGHAI, 7), "lab", (DESK, VIT), MONDAY, 1, struck)


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
        end=at,
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
                "nightshift rehearse -s lab --seed 23 --faults spot@wed+3h --only control",
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


def empty_week() -> Story:
    draft = Draft(SHANGHAI, 1)
    return replace(
        story(draft, "solo", (), MONDAY, 1, {}),
        groups={"solo": GroupInfo(SHANGHAI, "on-demand: g6.xlarge", 1, (), 0)},
        events=(),
        invariants=(),
    )


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
    return replace(
        whole,
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

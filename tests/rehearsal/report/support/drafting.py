"""What happens in a shift, event by event, for stories that nobody played."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from nightshift.rehearsal.story import (
    Ending,
    Event,
    FaultEnd,
    NodeLife,
    Phase,
    Span,
)

SHANGHAI, NEW_YORK = "Asia/Shanghai", "America/New_York"
MONDAY = datetime(2026, 11, 30)


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
    job: bool = True


DESK = Plan(
    "desk", "on-demand: g6.2xlarge", "g6.2xlarge", "on-demand", (0, 1, 2, 3, 4), 9, 9, 0.978, job=False
)
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
    if first and plan.job:
        draft.event(at, "resume", f"the job went on at step {first:,}", plan.name, life.id)
        draft.resumes.setdefault(plan.name, []).append((at, first))
    while at < stop:
        pause = min(at + 1800, stop)
        phases.append(Phase("train", at, pause))
        for moment in range(at, pause, 300):
            reached = step + (moment - at) // 2
            loss = 0.35 + 4.2 * math.exp(-reached / 60_000) + 0.05 * math.sin(reached / 97 + plan.opens)
            if leads and plan.job:
                draft.points.setdefault(plan.name, []).append((moment, reached, round(loss, 4)))
        step += (pause - at) // 2
        if plan.job and (pause < stop or drained):
            phases.append(Phase("save", pause, min(pause + 20, end)))
        at = pause + (20 if plan.job else 0)
    reached = step
    if drained:
        phases.append(Phase("drain", stop + 20, end))
        draft.event(stop, "drain", "shift's end: the job saves and stops", plan.name, life.id)
    else:
        phases.append(Phase("failed", end - 30, end))
        step = max(first, reached - cut)
        draft.lost += reached - step if plan.job else 0
    draft.event(end, "ended", f"{how}{': ' + why if why else ''}", plan.name, life.id, fault)
    draft.settle(life, phases, (first, reached) if plan.job else None)
    draft.steps[plan.name] = step if plan.job else 0


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
            "everything is saved within the notice, another node goes on",
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

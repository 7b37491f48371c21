"""What an override verb does to one group, decided from the calendar and from what AWS has now.

The puts are the difference to the live actions, not to an older record: a verb that died half way is
healed by running it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from nightshift.cli.live import LiveAction, LiveGroup
from nightshift.plan.calendar import Calendar
from nightshift.plan.instants import local_text, zone_of
from nightshift.plan.override import WAKE_END, ActionPut, VerbPlan, action_start_times, next_firing
from nightshift.plan.shifts import compile_actions
from nightshift.records.model import OverrideRecord
from nightshift.records.store import Seen

_SECOND = timedelta(seconds=1)
_LEAVING = ("Terminating", "Terminated", "Detaching", "Detached")


@dataclass(frozen=True)
class Steps:
    """What is written (`record` None: it goes), put, deleted and sized (`desired` None: stands already).

    `after` is the calendar that the actions are to carry, with the end of a wake beside it.
    """

    group: str
    asg: str
    record: OverrideRecord | None
    seen: str | None
    write: bool
    puts: tuple[ActionPut, ...]
    deletes: tuple[str, ...]
    desired: int | None
    drains: tuple[str, ...]
    says: tuple[str, ...]
    warnings: tuple[str, ...]
    after: Calendar
    one_off: ActionPut | None

    @property
    def nothing(self) -> bool:
        """Whether all of it stands already."""
        return not (self.write or self.puts or self.deletes) and self.desired is None


def decide(calendar: Calendar, live: LiveGroup, plan: VerbPlan, seen: Seen, now: datetime, by: str) -> Steps:
    """The steps from what stands to what the verb wants; `by` names the operator in the record."""
    wanted = plan.override
    held = seen.record
    same = bool(held and wanted and (held.state, held.until) == (wanted.state, wanted.until))
    record = OverrideRecord(wanted.state, wanted.until, by, now) if wanted else None
    after = replace(calendar, override=wanted)
    one_off = next((put for put in plan.puts if put.name == WAKE_END), None)
    puts, deletes, warnings = _actions(after, live, one_off, now)
    staying = [node.id for node in live.nodes if not node.state.startswith(_LEAVING)]
    surplus = max(0, len(staying) - plan.desired) if plan.desired is not None else 0
    return Steps(
        group=live.name,
        asg=live.asg,
        record=record,
        seen=seen.etag,
        write=not same if wanted else seen.etag is not None,
        puts=puts,
        deletes=deletes,
        desired=plan.desired if plan.desired != live.desired else None,
        drains=tuple(staying[len(staying) - surplus :]),
        says=plan.says,
        warnings=warnings,
        after=after,
        one_off=one_off,
    )


def left(steps: Steps, live: LiveGroup, now: datetime) -> tuple[tuple[ActionPut, ...], tuple[str, ...]]:
    """The puts and deletes that are still to do, or to do again where another operator came between."""
    puts, deletes, _ = _actions(steps.after, live, steps.one_off, now)
    return puts, deletes


def _actions(
    after: Calendar, live: LiveGroup, one_off: ActionPut | None, now: datetime
) -> tuple[tuple[ActionPut, ...], tuple[str, ...], tuple[str, ...]]:
    starts = action_start_times(after, now)
    compiled = compile_actions(after.shifts, after.zone, after.nodes)
    puts, warnings = [], []
    for action in compiled:
        have = live.actions.get(action.name)
        if have is None:
            warnings.append(f"action {action.name} isn't deployed: run `pulumi up`")
            continue
        if (have.recurrence, have.time_zone, have.desired) != (
            action.recurrence,
            action.time_zone,
            action.desired,
        ):
            warnings.append(
                f"action {action.name} is deployed with another shift than the file's: run `pulumi up`"
            )
        start = starts.get(action.name) or _given_back(have, next_firing(action, now + _SECOND))
        if start is not None and have.start != start:
            puts.append(ActionPut(action.name, action.recurrence, action.time_zone, action.desired, start))
    if one_off and not _is_there(live.actions.get(WAKE_END), one_off):
        puts.append(one_off)
    known = {action.name for action in compiled} | {WAKE_END}
    warnings += [
        f"action {name} isn't in the stack file and fires on: run `pulumi up`"
        for name in live.actions
        if name not in known
    ]
    deletes = (WAKE_END,) if WAKE_END in live.actions and one_off is None else ()
    return tuple(puts), deletes, tuple(warnings)


def _given_back(have: LiveAction, turn: datetime) -> datetime | None:
    """The next turn, when an earlier override had moved the action beyond it."""
    return turn if have.start is not None and have.start > turn else None


def _is_there(have: LiveAction | None, put: ActionPut) -> bool:
    return have is not None and (have.start, have.desired) == (put.start_time, put.desired)


def describe(steps: Steps, zone: str) -> list[str]:
    """What will happen, a sentence each."""
    lines = [f"{steps.group}: {says}" for says in steps.says]
    if steps.drains:
        count = "1 node drains" if len(steps.drains) == 1 else f"{len(steps.drains)} nodes drain"
        lines.append(f"{steps.group}: {count} now: {', '.join(steps.drains)}")
    for put in steps.puts:
        at = local_text(put.start_time, zone_of(zone)) if put.start_time else "its next turn"
        lines.append(f"{steps.group}: action {put.name} fires next {at}")
    lines += [f"{steps.group}: action {name} is deleted" for name in steps.deletes]
    if steps.desired is not None:
        lines.append(f"{steps.group}: desired size becomes {steps.desired}")
    if steps.nothing:
        lines.append(f"{steps.group}: stands so already")
    return lines


def data(steps: Steps) -> Mapping[str, object]:
    """The steps as JSON answers write them."""
    from nightshift.cli.when import iso

    record = steps.record
    return {
        "group": steps.group,
        "override": {"state": record.state, "until": iso(record.until)} if record else None,
        "puts": [
            {
                "action": put.name,
                "desired": put.desired,
                "start": iso(put.start_time) if put.start_time else None,
            }
            for put in steps.puts
        ],
        "deletes": list(steps.deletes),
        "desired": steps.desired,
        "drains": list(steps.drains),
        "says": list(steps.says),
        "warnings": list(steps.warnings),
        "changed": not steps.nothing,
    }

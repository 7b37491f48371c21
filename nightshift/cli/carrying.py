"""An override verb's steps in an order that a kill leaves visible, and another operator's between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nightshift.cli.live import read_groups
from nightshift.cli.steps import Steps, left
from nightshift.cli.turns import repeat
from nightshift.cli.when import who
from nightshift.plan.calendar import Override
from nightshift.plan.instants import local_text, zone_of
from nightshift.plan.override import ActionPut
from nightshift.records.errors import ChangedMeanwhile, Unreadable

if TYPE_CHECKING:
    from datetime import datetime

    from nightshift.records.store import Records


def do(client: Any, records: Records, steps: Steps) -> str | None:
    """Everything once; the ETag that the record's place has then, None when it is empty.

    A record is written before the actions move and goes only once they are back, so that no moved
    action ever stands without the record that explains it. Each step may be repeated. Raises
    ChangedMeanwhile while nothing has been done yet.
    """
    etag = steps.seen
    if steps.record is not None and steps.write:
        etag = records.write_override(steps.group, steps.record, steps.seen)
    elif steps.record is None and records.override_etag(steps.group) != steps.seen:
        raise ChangedMeanwhile(f"the override of {steps.group}")
    _act(client, steps.asg, steps.puts, steps.deletes)
    if steps.record is None:
        if not _goes(records, steps):
            return None
        etag = None
    if steps.desired is not None:
        client.set_desired_capacity(
            AutoScalingGroupName=steps.asg, DesiredCapacity=steps.desired, HonorCooldown=False
        )
    return etag


def _goes(records: Records, steps: Steps) -> bool:
    """Whether the record was still the one that was seen; `settle` tells of another one."""
    try:
        records.delete_override(steps.group, steps.seen)
    except ChangedMeanwhile:
        return False
    return True


def settle(client: Any, records: Records, steps: Steps, etag: str | None, now: datetime) -> list[str]:
    """Do again what a slower operator undid; in words what another operator's record says by now."""
    live = read_groups(client, {steps.group: steps.asg}).get(steps.group)
    puts, deletes = left(steps, live, now) if live else ((), ())
    if (puts or deletes) and records.override_etag(steps.group) == etag:
        _act(client, steps.asg, puts, deletes)
    if records.override_etag(steps.group) == etag:
        return []
    return [_changed(records, steps)]


def _changed(records: Records, steps: Steps) -> str:
    try:
        record = records.override(steps.group).record
    except Unreadable as error:
        return str(error)
    if record is None:
        return (
            f"{steps.group}: somebody ended the override while this verb ran, so its actions may be moved "
            f"and no record asks for it: `nightshift resume {steps.group}` gives them back, or repeat "
            "this verb"
        )
    until = local_text(record.until, zone_of(steps.after.zone))
    again = repeat(steps.group, Override(record.state, record.until), steps.after.zone)
    return (
        f"{steps.group}: {who(record.by)} said {record.state} until {until} while this verb ran, so its "
        f"actions may be mixed: `{again}` keeps that, or repeat this verb"
    )


def _act(client: Any, asg: str, puts: Sequence[ActionPut], deletes: Sequence[str]) -> None:
    for put in puts:
        timing = {"Recurrence": put.recurrence, "TimeZone": put.time_zone, "StartTime": put.start_time}
        client.put_scheduled_update_group_action(
            AutoScalingGroupName=asg,
            ScheduledActionName=put.name,
            DesiredCapacity=put.desired,
            **{key: value for key, value in timing.items() if value is not None},
        )
    for name in deletes:
        _delete_action(client, asg, name)


def _delete_action(client: Any, asg: str, name: str) -> None:
    """One that fired and went by itself meanwhile is as good as deleted."""
    try:
        client.delete_scheduled_action(AutoScalingGroupName=asg, ScheduledActionName=name)
    except client.exceptions.ClientError as error:
        if "not found" not in str(error).lower():
            raise

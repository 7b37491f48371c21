"""Whether a group's shifts fit into the capacity block that it bought."""

from __future__ import annotations

from datetime import datetime, timedelta

from nightshift.catalog.limits import CAPACITY_BLOCK_RECLAIM_MIN
from nightshift.plan.calendar import Calendar
from nightshift.plan.capacity import CapacityBlock
from nightshift.plan.instants import local_text, zone_of

_WEEK = timedelta(days=7)


def last_minute(block: CapacityBlock, drain: timedelta) -> datetime | None:
    """The latest shift end: AWS reclaims the nodes 30 minutes before the block's end, drained or not."""
    if block.ends is None:
        return None
    return block.ends - timedelta(minutes=CAPACITY_BLOCK_RECLAIM_MIN.value) - drain


def block_problems(calendar: Calendar, block: CapacityBlock, drain: timedelta) -> tuple[str, ...]:
    """Shifts that the block's begin or end cuts, and a block in which no shift falls.

    Without a known begin the last week before the end is looked at; without an end, nothing is.
    """
    last = last_minute(block, drain)
    if last is None or block.ends is None:
        return ()
    begins = block.starts or block.ends - _WEEK
    near = calendar.without_override().intervals(begins - _WEEK, block.ends + _WEEK)
    inside = [(start, end) for start, end in near if start < block.ends and end > begins]
    label = f"capacity block {block.reservation_id}"
    if not inside:
        return (f"{label}: no shift falls into it, and it's paid for all the same",)
    zone = zone_of(calendar.zone)
    problems = []
    for start, end in inside:
        shift = f"{label}: the shift of {local_text(start, zone)}"
        if block.starts and start < block.starts:
            opens = local_text(block.starts, zone)
            problems.append(f"{shift} begins before the block does ({opens}); let it begin later")
        if end > last:
            problems.append(
                f"{shift} ends {local_text(end, zone)}; nodes must be drained 30 minutes before the block's "
                f"end, so let it end by {local_text(last, zone)}"
            )
    return tuple(problems)

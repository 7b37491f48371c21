"""What is allowed and probably not meant: said, never refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from nightshift.catalog.limits import DLM_START_WITHIN_S, SPOT_NOTICE_S
from nightshift.plan.conflicts import first_meeting
from nightshift.plan.instants import local_text
from nightshift.plan.instants import zone_of as rules_of
from nightshift.settings.models import Stack
from nightshift.settings.problem import dotted
from nightshift.settings.site import GivenNetwork
from nightshift.settings.storage import SnapshotPolicy
from nightshift.settings.to_plan import calendar_of, capacity_plan, clock, minutes, users_of, zone_of

_LAST_LETTER = "f"
"""Of the zones of us-east-1, the region with most of them."""
JOB_SHARE = 0.7
"""Of a short drain; the rest is the node's, to unmount (bootstrap/drain/budget.py)."""
_LOOK_AHEAD = timedelta(days=8)
"""A week of shifts and a snapshot that runs past its end."""


def advice(stack: Stack, now: datetime) -> tuple[str, ...]:
    """Warnings about a sound stack, one line each. Coming snapshots are those from `now` (UTC) on."""
    return (*_site(stack), *_storage(stack), *_groups(stack), *_snapshots_in_shifts(stack, now))


def placeholder(image: str) -> bool:
    """Whether it is an image of the shipped stacks or of the emulated AWS, which no account has."""
    return re.fullmatch(r"ami-0abc0{7}[0-9a-f]{6}", image) is not None


def _site(stack: Stack) -> Iterator[str]:
    if placeholder(stack.site.image):
        yield f"site.image: {stack.site.image} stands in for a real AMI; `nightshift pin` proposes one"
    if stack.site.zone[-1] > _LAST_LETTER:
        yield f"site.zone: {stack.site.zone} is an unusual zone; `nightshift doctor` says whether it is there"
    if not stack.site.alerts and stack.site.budget is None:
        yield "site.alerts: nobody is told when a group gets no capacity or is not ready; name an address"
    private = ", ".join(
        name for name, group in stack.groups.items() if capacity_plan(stack.region, group).private_subnet
    )
    if private and isinstance(stack.site.network, GivenNetwork):
        yield (
            f"site.network.subnet: nodes of {private} have several network cards and get no public address; "
            "the subnet must reach the internet by NAT"
        )
    if private and stack.site.ssh:
        yield f"site.ssh: nodes of {private} get no public address; reach them by `nightshift connect`"


def _storage(stack: Stack) -> Iterator[str]:
    used = {volume.snapshots for volume in stack.volumes.values()}
    for name in stack.snapshots:
        if name not in used:
            yield f"{dotted(('snapshots', name))}: takes no snapshot, since no volume names it"
    for name in stack.volumes:
        if not users_of(stack, name):
            yield f"{dotted(('volumes', name))}: no group mounts it; it costs the same"


def _groups(stack: Stack) -> Iterator[str]:
    for name, group in stack.groups.items():
        for note in capacity_plan(stack.region, group).notes:
            yield f"{dotted(('groups', name))}: {note}"
        if group.idle and group.idle.then == "release" and group.job is None:
            yield (
                f"{dotted(('groups', name, 'idle', 'then'))}: release ends the node under people who only "
                "edit or read; warn is kinder"
            )
        if group.job and minutes(group.drain) * 60 < SPOT_NOTICE_S.value:
            yield (
                f"{dotted(('groups', name, 'drain'))}: {group.drain} leaves the job "
                f"{minutes(group.drain) * 60 * JOB_SHARE:.0f} s to save, less than a spot notice of "
                f"{SPOT_NOTICE_S.value} s does; name 2m or more, 10m if absent"
            )


def _snapshots_in_shifts(stack: Stack, now: datetime) -> Iterator[str]:
    for name, volume in stack.volumes.items():
        if volume.snapshots is None:
            continue
        starts = _starts(stack.snapshots[volume.snapshots], now)
        for user in users_of(stack, name):
            group = stack.groups[user]
            up = calendar_of(stack.site, group).intervals(now, now + _LOOK_AHEAD)
            meeting = first_meeting(starts, up)
            if meeting:
                when = local_text(meeting, rules_of(zone_of(stack.site, group)))
                yield (
                    f"{dotted(('snapshots', volume.snapshots))}: may start while {user} writes to {name}, "
                    f"first {when}; it is then as after a power cut; move at_utc out of the shift"
                )


def _starts(policy: SnapshotPolicy, now: datetime) -> list[tuple[datetime, datetime]]:
    """When snapshots may start from `now` on, in order: within the hour after their time."""
    first = datetime.combine(now.date(), clock(policy.at_utc), now.tzinfo) - timedelta(days=1)
    count = int((_LOOK_AHEAD + timedelta(days=2)) / timedelta(hours=policy.every_hours))
    window = timedelta(seconds=DLM_START_WITHIN_S.value)
    times = (first + index * timedelta(hours=policy.every_hours) for index in range(count))
    return [(at, at + window) for at in times if at + window > now]

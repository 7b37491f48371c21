"""A world played from one instant to another: everything set going, run, and brought to its end."""

from __future__ import annotations

from collections import deque
from collections.abc import MutableSequence

from nightshift.rehearsal.control import alarms, ends, jobs, scaling, schedules, snapshots
from nightshift.rehearsal.control.fleet import Fleet
from nightshift.rehearsal.control.queue import Queue
from nightshift.rehearsal.control.site import Site, Watch, resize
from nightshift.rehearsal.control.state import GroupState, VolumeState
from nightshift.rehearsal.story import Event
from nightshift.rehearsal.world.model import Group, World

DELETE_MARGIN_S = 900
"""How long a destroy waits beyond boot and drain (infra/node_group.py)."""


def open_site(
    world: World, fleet: Fleet, watch: Watch, *, seed: int, start: int, end: int, remember: int | None = None
) -> Site:
    """The site at `start`, nothing moving yet. `remember`: only so many of the latest events are kept."""
    events: MutableSequence[Event] = [] if remember is None else deque(maxlen=remember)
    groups = {group.manifest.group: _group(group) for group in world.groups}
    volumes = {volume.id: VolumeState(volume) for volume in world.volumes}
    site = Site(world, fleet, watch, seed, start, end, groups, volumes, Queue(start), events)
    for state in volumes.values():
        site.named.setdefault(state.volume.name, []).append(state)
    site.alarms = alarms.alarms_of(world)
    site.changed, site.settle = alarms.poke, scaling.settle
    return site


def _group(group: Group) -> GroupState:
    return GroupState(
        group,
        group.manifest.group,
        desired=group.desired,
        least=group.least,
        most=group.most,
        actions=group.actions,
        suspended=set(group.suspended),
    )


def set_going(site: Site) -> None:
    """Schedules, snapshot policies and, where a group isn't at 0, its nodes."""
    for group in site.groups.values():
        schedules.follow(site, group, group.actions, site.start)
        scaling.settle(site, group)
    for policy in site.world.policies:
        snapshots.follow(site, policy)


def play(site: Site) -> None:
    """Run to the site's end. What a watch raises comes through."""
    site.queue.run_until(site.end)
    for group in site.groups.values():
        _still_there(site, group)


def _still_there(site: Site, group: GroupState) -> None:
    """Jobs that run on beyond the end are counted up to it."""
    if group.job.lead is not None:
        stopped = jobs.stop(site, group, group.job.lead)
        group.job.saved = max(group.job.saved, stopped.work.saved if stopped else 0)
        if stopped is not None:
            jobs.keep(group, (stopped.lead,), stopped.work.step)
    for node in group.nodes:
        node.enter("train" if node.ready_at is not None else "boot", site.now)


def destroy(site: Site) -> None:
    """As `pulumi destroy` does: no more schedules, every group to 0, as long as the program waits."""
    longest = 0
    for group in site.groups.values():
        schedules.follow(site, group, (), site.now)
        resize(site, group, 0, "destroy")
        group.suspended.discard("Terminate")
        for node in group.counted():
            ends.terminate(site, group, node, "the stack was destroyed")
        manifest = group.group.manifest
        longest = max(longest, manifest.boot_s + manifest.drain_s + DELETE_MARGIN_S)
    site.queue.run_until(site.now + longest)

"""What a node watches by itself: the calendar and the operator's word, its job, the month's GPU-hours.

Edges come from AWS; these levels are the node's own code (bootstrap/lifecycle), asked with its manifest.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from bootstrap.lifecycle import guard, hours
from bootstrap.manifest import BootManifest
from nightshift.catalog.instance_types import instance_type
from nightshift.plan.calendar import Calendar, Override
from nightshift.rehearsal.control import ends, jobs
from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.control.state import GroupState, Node

_AGAIN_S = 60
_SELDOM_S = 6 * 3_600
"""How often a node looks that has no end in sight; its word can change meanwhile only by an operator."""


_AHEAD = (timedelta(hours=30), timedelta(days=22))
"""Most shifts end within the first; what has no end within the second has none."""


@lru_cache(maxsize=4096)
def _calendar(manifest: BootManifest, override: Override | None) -> Calendar:
    plain = guard.calendar_of(manifest, None)
    return Calendar(plain.shifts, plain.zone, plain.nodes, override)


def over_already(site: Site, group: GroupState) -> str:
    """Why a node that comes up needn't, or nothing."""
    job = group.group.manifest.job
    if group.job.finished is not None and job is not None and job.when_done == "release":
        return "the run is done"
    return _used_up(site, group)


def watch_over(site: Site, group: GroupState, node: Node) -> None:
    """Look at the calendar when the shift is over, and at the hours when they may be."""
    site.queue.after(_next_look(site, node), _look, site, group, node)
    _watch_hours(site, group, node)


def _next_look(site: Site, node: Node) -> int:
    """A real node looks all the time; nothing changes between these looks."""
    calendar = _calendar(node.instance.manifest, site.overrides.get(node.instance.group))
    now = datetime.fromtimestamp(site.now, UTC)
    for ahead in _AHEAD:
        here = calendar.intervals(now, now + ahead)
        if not here or here[0][0] > now:
            return _AGAIN_S
        if here[0][1] < now + ahead:
            return int((here[0][1] - now + guard.LATE).total_seconds())
    return _SELDOM_S


def watch_job(site: Site, group: GroupState) -> None:
    """When the run will be done, where that is known."""
    lead = group.job.lead
    left = None if lead is None else site.fleet.finish_s(lead.instance, site.now)
    if lead is not None and left is not None:
        site.queue.after(left, _finished, site, group, lead, group.job.since)


def _finished(site: Site, group: GroupState, lead: Node, since: int) -> None:
    """The run is done: everything is saved, and the group is let go if the stack file says so."""
    if group.job.lead is not lead or group.job.since != since:
        return
    stopped = jobs.stop(site, group, lead)
    if stopped is None:
        return
    jobs.account(site, group, lead, stopped, stopped.work.step, planned=True)
    if group.job.finished is None:
        jobs.done(site, group, stopped.work.step)
    manifest = group.group.manifest
    if manifest.job is not None and manifest.job.when_done == "release":
        for node in group.in_service():
            ends.end_itself(site, group, node, "the run is done")


def _word(site: Site, node: Node) -> guard.Word:
    manifest = node.instance.manifest
    override = site.overrides.get(node.instance.group)
    return guard.judge(_calendar(manifest, override), datetime.fromtimestamp(site.now, UTC))


def _look(site: Site, group: GroupState, node: Node) -> None:
    """A node past its end with no word to stay goes by itself, as soon as it can reach AWS."""
    if node.where != "in service" or node.draining:
        return
    if node.ailing(site.now) & {"kill-agent", "network-split"}:
        site.queue.after(_AGAIN_S, _look, site, group, node)
        return
    word = _word(site, node)
    if word.stay:
        site.queue.after(_next_look(site, node), _look, site, group, node)
    else:
        ends.end_itself(site, group, node, word.says)


def _gpus(node: Node) -> float:
    return float(instance_type(node.instance.type).gpu_count)


def _used_s(site: Site, group: GroupState) -> float:
    """Node-seconds of this UTC month so far, of past and present nodes."""
    first, _ = hours.span_of(hours.month_of(datetime.fromtimestamp(site.now, UTC)))
    low = int(first.timestamp())
    spans = (
        (max(node.instance.launched, low), node.ended or site.now)
        for node in group.all_nodes()
        if (node.ended or site.now) > low
    )
    return sum(last - begun for begun, last in spans)


def _used_up(site: Site, group: GroupState) -> str:
    cap = group.group.manifest.gpu_hours_monthly
    if cap is None or not group.nodes:
        return ""
    return hours.used_up(cap, _used_s(site, group) * _gpus(group.nodes[0]) / 3_600)


def _look_at_hours(site: Site, group: GroupState, node: Node) -> None:
    if node.where != "in service" or node.draining:
        return
    why = _used_up(site, group)
    if why:
        for each in group.in_service():
            ends.end_itself(site, group, each, why)
    else:
        _watch_hours(site, group, node)


def _watch_hours(site: Site, group: GroupState, node: Node) -> None:
    """Look again when the month's rest may be used."""
    cap = node.instance.manifest.gpu_hours_monthly
    if cap is not None:
        left = cap * 3_600 / _gpus(node) - _used_s(site, group)
        share = left / max(1, len(group.nodes))
        site.queue.after(max(_AGAIN_S, int(share)), _look_at_hours, site, group, node)

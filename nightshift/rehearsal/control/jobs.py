"""The training run of a group: it runs while all its nodes are in service, and goes on from its last save."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from nightshift.rehearsal.control.fleet import Work
from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.control.state import GroupState, Node, Stop


@dataclass(frozen=True)
class Stopped:
    """A job that stopped, on whom, and how far it had come."""

    lead: Node
    work: Work


def joined(site: Site, group: GroupState) -> bool:
    """A node is in service: with the last of them the job goes on. Whether it does so now."""
    job, here = group.job, group.in_service()
    if group.group.manifest.job is None or job.lead is not None or job.finished is not None:
        return False
    if len(here) < group.group.manifest.nodes or any(node.draining for node in here):
        return False
    lead = max(here, key=lambda node: node.resumed or 0)
    step = lead.resumed or 0
    job.lead, job.since, job.step = lead, site.now, step
    job.first = step if job.first is None else job.first
    job.resumes.append((site.now, step))
    says = f"its job goes on from step {step}" if step else "its job begins"
    site.tell("resume", says, group.name, lead.id)
    site.watch.resumed(site, group, lead, step)
    return True


def done(site: Site, group: GroupState, step: int) -> None:
    """The run is marked as done."""
    group.job.finished = site.now
    site.tell("finished", f"the run is done at step {step}", group.name)


def stop(site: Site, group: GroupState, node: Node) -> Stopped | None:
    """The job stops, since `node` goes. None where no job ran."""
    job, lead = group.job, group.job.lead
    if lead is None:
        return None
    work = site.fleet.work(lead.instance, job.since, site.now, lead.ailing(site.now))
    job.lead, job.step = None, work.step
    job.points.extend(work.points)
    for one in group.in_service():
        one.steps_to = work.step
    node.steps_to = work.step
    if work.finished is not None and job.finished is None:
        done(site, group, work.step)
    return Stopped(lead, work)


def went_on(group: GroupState, stopped: Stopped | None, step: int) -> Stopped | None:
    """A real job makes some steps more until it hears of its end: `step` is its last one."""
    if stopped is None or step <= stopped.work.step:
        return stopped
    group.job.step = stopped.lead.steps_to = step
    return Stopped(stopped.lead, replace(stopped.work, step=step))


def keep(group: GroupState, nodes: Iterable[Node], step: int) -> None:
    """Those of these nodes, and of those in service, that ran the job have brought it to this step, from
    which it can go on."""
    for one in (*nodes, *group.in_service()):
        if one.steps_to is not None:
            one.steps_kept = step


def account(
    site: Site, group: GroupState, node: Node, stopped: Stopped | None, saved: int | None, *, planned: bool
) -> None:
    """What the stop cost: nothing where the last step was saved, else the steps since the last save."""
    if stopped is None:
        return
    work, job = stopped.work, group.job
    kept = work.saved if saved is None else max(work.saved, saved)
    job.saved = max(job.saved, kept)
    keep(group, (node, stopped.lead), kept)
    job.lost += max(0, work.step - kept)
    job.stops.append(Stop(site.now, node.id, max(0, work.step - kept)))
    if kept < work.step:
        site.tell("save", f"{work.step - kept} steps after step {kept} weren't saved", group.name, node.id)
    else:
        site.tell("save", f"everything up to step {kept} is saved", group.name, node.id)
    site.watch.stopped(site, group, node, work.step, kept, work.may_lose, planned)

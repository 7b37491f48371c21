"""A node from its launch to its verdict: it comes up, takes its volumes, proves itself, answers the hook."""

from __future__ import annotations

from nightshift.rehearsal.control import claims, ends, hooks, jobs, levels
from nightshift.rehearsal.control.fleet import Boot
from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.control.state import GroupState, Node
from nightshift.rehearsal.control.timing import TIMINGS
from nightshift.rehearsal.world.model import Hook


def begin(site: Site, group: GroupState, node: Node) -> None:
    """AWS has launched it and waits, if a hook says so, for its word."""
    hook = group.hook("launching")
    if hook is not None:
        hooks.hold(site, group, node, hook, _unanswered)
    reach = site.fleet.reach(node.instance, site.now, _ails(site, node))
    if hook is None:
        _in_service(site, group, node, Boot(0, True))
    if reach.seconds is not None:
        _work_on(site, group, node, reach.seconds)
        site.queue.after(reach.seconds, _reached, site, group, node, reach)


def _ails(site: Site, node: Node) -> frozenset[str]:
    return node.ailing(site.now)


def _work_on(site: Site, group: GroupState, node: Node, seconds: int) -> None:
    hook = group.hook("launching")
    if hook is not None:
        hooks.beat(site, node, hook, seconds)


def _reached(site: Site, group: GroupState, node: Node, reach: Boot) -> None:
    if node.where != "pending":
        return
    if not reach.ready:
        _give_up(site, group, node, reach.reason)
    elif why := levels.over_already(site, group):
        _leave(site, group, node, why)
    else:
        claims.claim(site, group, node, _mounted, _refused)


def _refused(site: Site, group: GroupState, node: Node, why: str) -> None:
    """Its volumes can't be had: the node isn't ready."""
    _give_up(site, group, node, why)


def _mounted(site: Site, group: GroupState, node: Node) -> None:
    """It holds all its volumes."""
    boot = site.fleet.boot(node.instance, site.now, _ails(site, node))
    if boot.seconds is None:
        return
    _work_on(site, group, node, boot.seconds)
    site.queue.after(boot.seconds, _concluded, site, group, node, boot)


def _concluded(site: Site, group: GroupState, node: Node, boot: Boot) -> None:
    if node.where != "pending":
        return
    if boot.ready:
        hooks.let_go(node)
        _in_service(site, group, node, boot)
    else:
        _give_up(site, group, node, boot.reason)


def begin_again(site: Site, group: GroupState, node: Node) -> None:
    """The agent was started again: it proves the node anew, then the job goes on; else it is replaced."""
    if node.where != "in service" or node.draining:
        return
    boot = site.fleet.boot(node.instance, site.now, _ails(site, node))
    if boot.seconds is not None:
        site.queue.after(boot.seconds, _back, site, group, node, boot)


def _back(site: Site, group: GroupState, node: Node, boot: Boot) -> None:
    if node.where != "in service" or node.draining:
        return
    if not boot.ready:
        ends.terminate(site, group, node, boot.reason)
        site.settle(site, group)
        return
    _resumes(node, boot.resumed)
    if jobs.joined(site, group):
        levels.watch_job(site, group)


def _in_service(site: Site, group: GroupState, node: Node, boot: Boot) -> None:
    node.where, node.ready_at = "in service", site.now
    node.enter("boot", site.now)
    _resumes(node, boot.resumed)
    site.tell("ready", "in service", group.name, node.id)
    site.note_sizes(group)
    if jobs.joined(site, group):
        levels.watch_job(site, group)
    levels.watch_over(site, group, node)


def _give_up(site: Site, group: GroupState, node: Node, why: str) -> None:
    """It says ABANDON at once: AWS ends it and launches another."""
    group.failed_boots.append(site.now)
    site.tell("boot-failed", why, group.name, node.id)
    site.changed(site, group)
    _abandon(site, group, node, why)


def _abandon(site: Site, group: GroupState, node: Node, why: str) -> None:
    hooks.let_go(node)
    node.enter("failed", site.now)
    ends.end(site, group, node, "abandoned", why)
    again = TIMINGS["relaunch"].draw(site.seed, "relaunch", node.id)
    site.queue.after(again, site.settle, site, group)


def _leave(site: Site, group: GroupState, node: Node, why: str) -> None:
    """Nothing to do here: it takes itself out of its group."""
    hooks.let_go(node)
    node.enter("boot", site.now)
    ends.smaller(site, group, why)
    ends.end(site, group, node, "ended itself", why)


def _unanswered(site: Site, group: GroupState, node: Node, hook: Hook) -> None:
    """The ready hook's time is over without a word."""
    why = f"no word within the {hook.name} hook's time"
    site.tell("boot-failed", why, group.name, node.id)
    if hook.default == "CONTINUE":
        _in_service(site, group, node, Boot(0, True))
    else:
        _abandon(site, group, node, why)


def _resumes(node: Node, step: int | None) -> None:
    """Its job goes on from this step; what it began with on its first boot stays told."""
    node.resumed = step
    node.steps_from = step if node.steps_from is None else node.steps_from

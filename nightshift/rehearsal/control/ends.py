"""The end of a node: drained through its hook, taken by AWS, dead at once, or by its own word."""

from __future__ import annotations

from nightshift.rehearsal.control import claims, hooks, jobs
from nightshift.rehearsal.control.site import Site, resize
from nightshift.rehearsal.control.state import GroupState, Node
from nightshift.rehearsal.control.timing import ASKS_S, LOOK_S, NOTICE_S, TIMINGS
from nightshift.rehearsal.story import Ending
from nightshift.rehearsal.world.model import Hook


def terminate(site: Site, group: GroupState, node: Node, why: str) -> None:
    """The group lets it go: the terminating hook gives it time to drain, or to give back what it took."""
    ready = node.where == "in service"
    node.where, node.why = "terminating", why
    site.note_sizes(group)
    hook = group.hook("terminating")
    if hook is None:
        kill(site, group, node, "killed", f"{why}, and no hook held it", planned=True)
        return
    hooks.hold(site, group, node, hook, _unanswered)
    if node.drained or not node.draining:
        told = _answer if node.drained else _told if ready else _stop_booting
        hears = ASKS_S if "imds-lost" in node.ailing(site.now) else LOOK_S
        site.queue.after(hears, told, site, group, node)


def _told(site: Site, group: GroupState, node: Node) -> None:
    drain(site, group, node, node.instance.manifest.drain_s, planned=True)


def _answer(site: Site, group: GroupState, node: Node) -> None:
    """It has nothing left to do."""
    if node.where == "terminating" and not _dumb(site, node):
        end(site, group, node, "drained", node.why)


def _stop_booting(site: Site, group: GroupState, node: Node) -> None:
    """It gives back what it took and answers."""
    if node.where == "terminating" and not _dumb(site, node):
        node.enter("boot", site.now)
        end(site, group, node, "drained", f"{node.why}, before it was ready")


def _dumb(site: Site, node: Node) -> bool:
    """Whether the node can't hear or answer."""
    return bool(node.ailing(site.now) & {"kill-agent", "imds-lost", "network-split"})


def drain(site: Site, group: GroupState, node: Node, budget_s: int, *, planned: bool) -> None:
    """The node has heard that it must go: it stops its job, saves, unmounts, answers."""
    if node.draining or node.where == "gone":
        return
    ails = node.ailing(site.now)
    node.draining = True
    node.enter("train" if node.ready_at is not None else "boot", site.now)
    work = jobs.stop(site, group, node)
    done = site.fleet.drain(node.instance, site.now, budget_s, planned, ails)
    work = jobs.went_on(group, work, done.step)
    usual = "unmounts" if work is None else "stops its job, saves, unmounts"
    site.tell("drain", done.says or usual, group.name, node.id)
    if done.seconds is None:
        jobs.account(site, group, node, work, done.saved, planned=False)
        return
    hook = group.hook("terminating")
    if hook is not None:
        hooks.beat(site, node, hook, min(done.seconds, budget_s))
    hurt = bool(ails) or done.seconds > budget_s
    site.queue.after(done.seconds, _drained, site, group, node, work, done.saved, planned and not hurt)
    node.on_cut = lambda: jobs.account(site, group, node, work, None, planned=planned and not hurt)


def _drained(
    site: Site, group: GroupState, node: Node, work: jobs.Stopped | None, saved: int, planned: bool
) -> None:
    if node.where == "gone":
        return
    node.on_cut, node.drained = None, True
    node.enter("drain", site.now)
    jobs.account(site, group, node, work, saved, planned=planned)
    claims.unmount(site, node)
    if node.leaves:
        smaller(site, group, node.why)
        end(site, group, node, "ended itself", node.why)
    elif node.where == "terminating":
        hooks.let_go(node)
        end(site, group, node, "drained", node.why)


def end_itself(site: Site, group: GroupState, node: Node, why: str) -> None:
    """By its own word: drained, then out of the group, whose size goes down with it."""
    if not node.draining and node.where == "in service":
        node.leaves, node.why = True, why
        drain(site, group, node, node.instance.manifest.drain_s, planned=True)


def smaller(site: Site, group: GroupState, why: str) -> None:
    """The size goes down with a node that takes itself out."""
    before = group.desired
    resize(site, group, group.desired - 1, f"released: {why}")
    site.tell("action", f"a node ended itself, size {before} → {group.desired}: {why}", group.name)


def notice(site: Site, group: GroupState, node: Node, fault: str | None) -> None:
    """AWS takes a spot node back in two minutes; a node without its metadata doesn't hear of it."""
    if node.where == "gone" or node.noticed:
        return
    node.noticed = True
    site.tell("notice", f"AWS takes it back in {NOTICE_S} s", group.name, node.id, fault)
    if not node.ailing(site.now) & {"imds-lost", "kill-agent"} and node.where == "in service":
        site.queue.after(LOOK_S, _noticed, site, group, node)
    site.queue.after(NOTICE_S, kill, site, group, node, "interrupted", "taken back by AWS")


def _noticed(site: Site, group: GroupState, node: Node) -> None:
    drain(site, group, node, NOTICE_S - LOOK_S, planned=False)


def kill(site: Site, group: GroupState, node: Node, how: Ending, why: str, *, planned: bool = False) -> None:
    """It is gone from one second to the next; Auto Scaling sees it after a while.

    `planned`: the group wanted it to go, and nothing kept it from draining.
    """
    if node.where == "gone":
        return
    if node.on_cut is not None:
        node.enter("drain", site.now)
        node.on_cut()
    elif not node.draining:
        node.enter("train" if node.ready_at is not None else "boot", site.now)
        jobs.account(site, group, node, jobs.stop(site, group, node), None, planned=planned)
    end(site, group, node, how, why)
    seen = TIMINGS["health"].draw(site.seed, "health", node.id)
    site.queue.after(seen, site.settle, site, group)


def _unanswered(site: Site, group: GroupState, node: Node, hook: Hook) -> None:
    """For a terminating hook both results end the node."""
    why = f"{node.why}; no word within the {hook.name} hook's time"
    kill(site, group, node, "killed", why, planned=not node.ailing(site.now) and node.ails == {})


def end(site: Site, group: GroupState, node: Node, how: Ending, why: str) -> None:
    """The instance is gone; EC2 lets go of its volumes."""
    node.where, node.ended, node.how, node.why, node.on_cut = "gone", site.now, how, why, None
    node.enter("drain" if node.draining else "train" if node.ready_at is not None else "boot", site.now)
    hooks.let_go(node)
    group.nodes.remove(node)
    group.past.append(node)
    site.fleet.gone(node.instance, site.now, how)
    claims.let_go(site, group, node)
    site.tell("ended", f"{how}: {why}", group.name, node.id)
    site.watch.ended(site, group, node)
    site.note_sizes(group)

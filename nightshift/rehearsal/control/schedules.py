"""Scheduled actions fire: in their zone, up to two minutes late, in order within a group."""

from __future__ import annotations

from collections.abc import Iterator

from nightshift.rehearsal.control.dice import between
from nightshift.rehearsal.control.scaling import settle
from nightshift.rehearsal.control.site import Site, resize
from nightshift.rehearsal.control.state import GroupState
from nightshift.rehearsal.control.turns import Turn, turns
from nightshift.rehearsal.world.model import ScheduledAction


def follow(site: Site, group: GroupState, actions: tuple[ScheduledAction, ...], start: int) -> None:
    """Fire these actions from `start` on, instead of whatever was followed before."""
    group.turns_made += 1
    _next(site, group, group.turns_made, turns(actions, start, site.end))


def _next(site: Site, group: GroupState, made: int, due: Iterator[Turn]) -> None:
    turn = next(due, None)
    if turn is not None:
        late = between(0, site.late_most_s, site.seed, "late", group.name, turn.at)
        fires = max(turn.at + late, group.fired_at)
        site.queue.at(fires, _fire, site, group, made, turn, due)


def _fire(site: Site, group: GroupState, made: int, turn: Turn, due: Iterator[Turn]) -> None:
    if made != group.turns_made:
        return
    group.fired_at = site.now
    _next(site, group, made, due)
    lost = _lost(site, group, turn)
    for action in turn.actions:
        if lost is None:
            _apply(site, group, action)
        else:
            why, fault = lost
            site.watch.missed(site, group)
            site.tell("missed", f"{action.name} didn't fire: {why}", group.name, fault=fault)
    settle(site, group)


def _lost(site: Site, group: GroupState, turn: Turn) -> tuple[str, str | None] | None:
    if "ScheduledActions" in group.suspended:
        return "ScheduledActions is suspended", None
    for index, (name, since, fault) in enumerate(site.missing):
        if name == group.name and turn.at >= since:
            del site.missing[index]
            return "AWS lost it", fault
    return None


def _apply(site: Site, group: GroupState, action: ScheduledAction) -> None:
    group.least = group.least if action.least is None else action.least
    group.most = group.most if action.most is None else action.most
    wanted = group.desired if action.desired is None else action.desired
    before = group.desired
    resize(site, group, wanted, f"action {action.name}")
    moved = f"size {before} → {group.desired}" if before != group.desired else f"size stays {before}"
    site.tell("action", f"{action.name}: {moved}", group.name)

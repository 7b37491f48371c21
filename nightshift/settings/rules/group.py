"""Rules of a group by itself: what it names, how long things take and its people."""

from __future__ import annotations

from collections.abc import Iterator

from nightshift.catalog.image_accounts import SYSTEM_NAMES, SYSTEM_PREFIX
from nightshift.plan import zones
from nightshift.plan.errors import PlanError
from nightshift.plan.people import NOTEBOOK_USER, uid_of
from nightshift.plan.shifts import compile_actions
from nightshift.settings.group import BOOT_MINUTES, DRAIN_MINUTES, IDLE_MINUTES, Group, duration_text
from nightshift.settings.problem import Problem, Step
from nightshift.settings.rules import job
from nightshift.settings.rules.common import no_such, repeated
from nightshift.settings.scope import Scope
from nightshift.settings.to_plan import minutes, shifts_of


def findings(scope: Scope) -> Iterator[Problem]:
    """The groups' problems."""
    for name, group in sorted(scope.groups.items()):
        path: tuple[Step, ...] = ("groups", name)
        if group.timezone and (why := zones.zone_problem(group.timezone)):
            yield Problem((*path, "timezone"), why)
        yield from _days(path, group)
        yield from _actions(path, scope.timely(name))
        yield from _times(path, group)
        yield from _volumes(path, group, scope)
        yield from _people(path, group)
        if group.job:
            yield from job.findings((*path, "job"), group, group.job, scope)
    yield from _numbers(scope)


def _days(path: tuple[Step, ...], group: Group) -> Iterator[Problem]:
    for index, shift in enumerate(group.shifts):
        yield from repeated((*path, "shifts", index, "days"), shift.days, "the day")


def _actions(path: tuple[Step, ...], group: Group | None) -> Iterator[Problem]:
    if group is None:
        return
    try:
        compile_actions(shifts_of(group), "Etc/UTC", group.nodes)
    except PlanError as error:
        for why in error.problems:
            yield Problem((*path, "shifts"), why.removeprefix("shifts: "))


def _times(path: tuple[Step, ...], group: Group) -> Iterator[Problem]:
    given = [((*path, "boot"), group.boot, BOOT_MINUTES), ((*path, "drain"), group.drain, DRAIN_MINUTES)]
    if group.idle:
        given.append(((*path, "idle", "for"), group.idle.lasting, IDLE_MINUTES))
    for at, text, (least, most) in given:
        if not least <= minutes(text) <= most:
            yield Problem(at, f'given "{text}", expected {duration_text(least)} to {duration_text(most)}')


def _volumes(path: tuple[Step, ...], group: Group, scope: Scope) -> Iterator[Problem]:
    yield from repeated((*path, "volumes"), group.volumes, "the volume")
    for index, name in enumerate(group.volumes):
        at = (*path, "volumes", index)
        known = scope.volume_names
        if known is not None and name not in known:
            yield Problem(at, no_such("volume", name, sorted(known), "volumes"))
        elif group.nodes > 1 and scope.sound(("volumes", name), "per") and _of_site(scope, name):
            yield Problem(
                at,
                f'given "{name}", which one node can mount, but the group has nodes: {group.nodes}; '
                f"write per: node in volumes.{name}, or take it out here",
            )


def _of_site(scope: Scope, volume: str) -> bool:
    return volume in scope.volumes and scope.volumes[volume].per == "site"


def _people(path: tuple[Step, ...], group: Group) -> Iterator[Problem]:
    yield from repeated((*path, "users"), group.users, "the user")
    for index, user in enumerate(group.users):
        if user in SYSTEM_NAMES or user.startswith(SYSTEM_PREFIX):
            yield Problem(
                (*path, "users", index),
                f'given "{user}", an account or group that images bring along; take another name',
            )


def _numbers(scope: Scope) -> Iterator[Problem]:
    """Over all groups: a volume goes from one to another, with files that belong to numbers."""
    first: dict[int, tuple[str, str]] = {}
    if any(group.notebook and not group.users for group in scope.groups.values()):
        first[uid_of(NOTEBOOK_USER)] = (NOTEBOOK_USER, "whose the notebook of a group without users is")
    for name, group in sorted(scope.groups.items()):
        for index, user in enumerate(group.users):
            other, where = first.setdefault(uid_of(user), (user, f"groups.{name}.users[{index}]"))
            if other != user:
                yield Problem(
                    ("groups", name, "users", index),
                    f'given "{user}", whose number on nodes ({uid_of(user)}, made from the name) is that of '
                    f'"{other}" ({where}) too, so that each could read the other\'s files; take another name '
                    "for one of them, such as one with a digit more",
                )

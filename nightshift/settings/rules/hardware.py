"""Rules of machines: tiers and types, how they are bought, EFA, and the runtime that must run on them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nightshift.catalog.instance_types import instance_type
from nightshift.catalog.regions import REGIONS
from nightshift.catalog.runtimes import RUNTIMES
from nightshift.catalog.suggest import unknown
from nightshift.catalog.tiers import TIERS
from nightshift.plan.capacity import CapacityPlan
from nightshift.plan.errors import PlanError
from nightshift.settings.group import CapacityBlock, Group, Mix
from nightshift.settings.problem import Problem, Step, shown
from nightshift.settings.scope import Scope
from nightshift.settings.to_plan import capacity_plan, instant

_FIELD = re.compile(r"(?P<field>tier|types|efa)(?: (?P<name>\S+))?: (?P<says>.*)", re.DOTALL)

_ANYWHERE = ("us-east-1", "us-west-2", "eu-west-1")
_FAR = "2099-12-31T00:00Z"


def findings(scope: Scope) -> Iterator[Problem]:
    """Problems of the groups' machines."""
    architectures: dict[str, list[str]] = {}
    for name, group in sorted(scope.groups.items()):
        path: tuple[Step, ...] = ("groups", name)
        yield from _runtime(path, group)
        timely = list(_times(path, group))
        yield from [*timely, *_choice(path, group, scope)]
        if (group.tier is None) == (group.types is None) or not scope.sound(path, "tier", "types"):
            continue
        plans, wrong = _resolved(_regions(scope), _variants(path, group, scope, timely=not timely))
        yield from (_placed(path, why, group) for why in wrong)
        if plans:
            architectures.setdefault(plans[0].arch, []).append(name)
            yield from _cards(path, group, plans)
    yield from _one_image(architectures)


def _regions(scope: Scope) -> tuple[str, ...]:
    """The region; where it isn't known, some: what holds in all of them holds anywhere."""
    return (scope.region,) if scope.region in REGIONS else _ANYWHERE


def _variants(path: tuple[Step, ...], group: Group, scope: Scope, *, timely: bool) -> list[Group]:
    """The group in each way that the file may mean it, without what was found wrong already."""
    if group.efa and group.nodes == 1:
        group = group.model_copy(update={"efa": False})
    if not scope.sound(path, "capacity"):
        return [group.model_copy(update={"capacity": word}) for word in ("on-demand", "spot")]
    if not timely and isinstance(group.capacity, CapacityBlock):
        block = group.capacity.model_copy(update={"starts": None, "ends": _FAR})
        return [group.model_copy(update={"capacity": block})]
    return [group]


def _resolved(
    regions: tuple[str, ...], variants: list[Group]
) -> tuple[tuple[CapacityPlan, ...], tuple[str, ...]]:
    """A plan for each, or the problems that all have in common."""
    plans, wrong = [], []
    for group in variants:
        for region in regions:
            try:
                plans.append(capacity_plan(region, group))
            except PlanError as error:
                wrong.append(error.problems)
    if not wrong:
        return tuple(plans), ()
    common = () if plans else tuple(why for why in wrong[0] if all(why in each for each in wrong))
    return (), common


def _choice(path: tuple[Step, ...], group: Group, scope: Scope) -> Iterator[Problem]:
    if group.tier is None and group.types is None and scope.sound(path, "tier", "types"):
        yield Problem(
            (*path, "tier"), f"missing, expected one of {', '.join(TIERS)}; add it, or a list as types"
        )
    elif group.tier is not None and group.types is not None:
        yield Problem(
            (*path, "types"), "stands beside tier, but a group has one of the two; take one of them out"
        )
    counted = scope.sound(path, "nodes")
    if group.efa and group.nodes == 1 and counted:
        yield Problem(
            (*path, "efa"),
            "given true, but EFA joins nodes and the group has one; take it out or raise nodes",
        )
    if isinstance(group.capacity, Mix) and group.capacity.on_demand_base > group.nodes and counted:
        yield Problem(
            (*path, "capacity", "on_demand_base"),
            f"given {group.capacity.on_demand_base}, but the group has nodes: {group.nodes}; lower it",
        )


def _times(path: tuple[Step, ...], group: Group) -> Iterator[Problem]:
    if not isinstance(group.capacity, CapacityBlock):
        return
    moments = {}
    given = {"starts": group.capacity.starts, "ends": group.capacity.ends}
    for key, text in ((key, text) for key, text in given.items() if text):
        try:
            moments[key] = instant(text)
        except ValueError:
            yield Problem(
                (*path, "capacity", key), f'given "{text}", which is no day or time of the calendar'
            )
    if len(moments) == 2 and moments["ends"] <= moments["starts"]:
        yield Problem(
            (*path, "capacity", "ends"), f'given "{group.capacity.ends}", expected a time after starts'
        )


def _placed(path: tuple[Step, ...], why: str, group: Group) -> Problem:
    """A sentence of the plan at the field that it speaks of."""
    found = _FIELD.fullmatch(why)
    if found is None:
        return Problem(path, why)
    field, says = found["field"], found["says"]
    if field == "types" and group.tier is not None:
        field = "tier"
    return Problem((*path, field), f"given {shown(found['name'])}: {says}" if found["name"] else says)


def _runtime(path: tuple[Step, ...], group: Group) -> Iterator[Problem]:
    if group.runtime not in RUNTIMES:
        why = unknown("runtime", group.runtime, RUNTIMES, "Nightshift")
        yield Problem((*path, "runtime"), why.removeprefix("runtime: "))


def _cards(path: tuple[Step, ...], group: Group, plans: tuple[CapacityPlan, ...]) -> Iterator[Problem]:
    runtime = RUNTIMES.get(group.runtime)
    if runtime is None:
        return
    kinds = [instance_type(name) for name in plans[0].types if all(name in plan.types for plan in plans)]
    unfit = [kind for kind in kinds if not runtime.runs_on(kind.compute_capability)]
    if not unfit:
        return
    cards = ", ".join(f"{kind.gpu_model} ({kind.name})" for kind in unfit)
    fit = [
        name
        for name, other in RUNTIMES.items()
        if other.archs and all(other.runs_on(kind.compute_capability) for kind in kinds)
    ]
    remedy = f"write runtime: {' or '.join(fit)}" if fit else "choose other types"
    yield Problem((*path, "runtime"), f'given "{group.runtime}", which holds no code for {cards}; {remedy}')


def _one_image(architectures: dict[str, list[str]]) -> Iterator[Problem]:
    if len(architectures) > 1:
        listed = "; ".join(f"{arch}: {', '.join(names)}" for arch, names in sorted(architectures.items()))
        yield Problem(
            ("site", "image"),
            f"is for one architecture, but the groups' types need two ({listed}); "
            "put one kind into a stack of its own",
        )

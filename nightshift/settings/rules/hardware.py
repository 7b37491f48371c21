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


def findings(scope: Scope) -> Iterator[Problem]:
    """Problems of the groups' machines."""
    architectures: dict[str, list[str]] = {}
    for name, group in sorted(scope.groups.items()):
        path: tuple[Step, ...] = ("groups", name)
        yield from _runtime(path, group)
        timely = list(_times(path, group))
        choice = list(_choice(path, group))
        yield from [*timely, *choice]
        if timely or choice or scope.region not in REGIONS:
            continue
        try:
            plan = capacity_plan(scope.region, group)
        except PlanError as error:
            yield from (_placed(path, why, group) for why in error.problems)
            continue
        architectures.setdefault(plan.arch, []).append(name)
        yield from _cards(path, group, plan)
    yield from _one_image(architectures)


def _choice(path: tuple[Step, ...], group: Group) -> Iterator[Problem]:
    if group.tier is None and group.types is None:
        yield Problem(
            (*path, "tier"), f"missing, expected one of {', '.join(TIERS)}; add it, or a list as types"
        )
    elif group.tier is not None and group.types is not None:
        yield Problem(
            (*path, "types"), "stands beside tier, but a group has one of the two; take one of them out"
        )
    if group.efa and group.nodes == 1:
        yield Problem(
            (*path, "efa"),
            "given true, but EFA joins nodes and the group has one; take it out or raise nodes",
        )
    if isinstance(group.capacity, Mix) and group.capacity.on_demand_base > group.nodes:
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


def _cards(path: tuple[Step, ...], group: Group, plan: CapacityPlan) -> Iterator[Problem]:
    runtime = RUNTIMES.get(group.runtime)
    if runtime is None:
        return
    kinds = [instance_type(name) for name in plan.types]
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

"""What to declare, and every reason to stop first: the stack file held against what stands. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from infra.identity import IdentitySpec, identity_spec
from infra.live import ELSEWHERE, LiveSite
from infra.network import FENCE, Given, NetworkSpec, network_spec
from infra.node_group import GroupSpec
from infra.options import SiteContext
from infra.policies import size_problem
from infra.schedules import schedule_specs
from infra.template import TemplateSpec
from infra.volumes import VolumeUnit, volume_units
from nightshift.plan import names
from nightshift.plan.calendar import Calendar
from nightshift.plan.capacity import CapacityPlan
from nightshift.plan.changes import (
    changed_actions,
    near_firings,
    running_conflicts,
    wake_end_hint,
    wake_hint,
)
from nightshift.plan.errors import PlanError
from nightshift.plan.override import action_start_times
from nightshift.plan.shifts import compile_actions
from nightshift.plan.volumes import Reconciliation, VolumeSpec, reconcile
from nightshift.settings.group import Group
from nightshift.settings.models import Stack
from nightshift.settings.site import OwnNetwork
from nightshift.settings.to_plan import calendar_of, capacity_plan, minutes, volume_specs


class Refused(Exception):
    """The stack file can't be made true of what stands; `problems` has every reason, one line each."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class GroupDecision:
    """One group: what to declare, who its nodes are, and how it is bought."""

    spec: GroupSpec
    identity: IdentitySpec
    plan: CapacityPlan
    calendar: Calendar


@dataclass(frozen=True)
class Decision:
    """All that is declared, as plain values, and what to tell the operator."""

    site: SiteContext
    network: NetworkSpec
    volumes: tuple[VolumeUnit, ...]
    groups: dict[str, GroupDecision]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def decide(stack: Stack, live: LiveSite) -> Decision:
    """Raises Refused with every problem at once."""
    site = SiteContext(
        stack.name, stack.region, live.account, stack.site.zone, stack.site.owner, live.partition
    )
    problems = list(live.problems)
    plans = _plans(stack, problems)
    network = network_spec(stack, private=any(plan.private_subnet for plan in plans.values()))
    found = reconcile(
        _sized(stack, live), [each.volume for each in live.volumes], stack.site.zone, stack.name
    )
    problems += [
        *found.problems,
        *_plain_disks(found, live),
        *_other_pools(stack, live),
        *_lost_sources(stack, found, live),
        *running_conflicts({name: group.nodes for name, group in stack.groups.items()}, live.groups),
        *_other_region(stack, live),
        *network_problems(stack.site.zone, network, live),
    ]
    if problems:
        raise Refused(tuple(problems))
    groups = {name: _group(stack, name, plans[name], site, live) for name in stack.groups}
    too_big = tuple(why for group in groups.values() if (why := size_problem(group.identity.scope)))
    if too_big:
        raise Refused(too_big)
    counts = {spec.name: spec.count for spec in volume_specs(stack)}
    return Decision(
        site,
        network,
        volume_units(stack, counts, found.imports),
        groups,
        warnings=(*_warnings(stack, groups, live), *_gone(stack, found, live)),
        notes=tuple(f"groups.{name}: {note}" for name, plan in plans.items() for note in plan.notes),
    )


def _plans(stack: Stack, problems: list[str]) -> dict[str, CapacityPlan]:
    plans = {}
    for name, group in stack.groups.items():
        try:
            plans[name] = capacity_plan(stack.region, group)
        except PlanError as error:
            problems.extend(f"groups.{name}: {problem}" for problem in error.problems)
    return plans


def _sized(stack: Stack, live: LiveSite) -> list[VolumeSpec]:
    """The declared volumes, with the size of the snapshot that each starts from."""
    return [
        VolumeSpec(
            spec.name,
            spec.size_gib,
            spec.count,
            spec.adopt,
            spec.from_snapshot,
            live.snapshots.get(spec.from_snapshot or ""),
        )
        for spec in volume_specs(stack)
    ]


def _plain_disks(found: Reconciliation, live: LiveSite) -> Iterator[str]:
    """A live volume that isn't encrypted can't become so, and every disk of the site is."""
    plain = {each.volume.id for each in live.volumes if not each.encrypted}
    for (name, _), volume_id in found.imports.items():
        if volume_id in plain:
            yield (
                f"volume \"{name}\": {volume_id} isn't encrypted, and AWS can't encrypt a volume in place; "
                "make a snapshot of it and write from: snap-... instead of adopt"
            )


def _other_region(stack: Stack, live: LiveSite) -> Iterator[str]:
    """A site that stands in another region and not here was moved: the engine would make all of it anew."""
    if FENCE in live.parts or any(part.startswith("role-") for part in live.parts):
        return
    away = {part.split("/")[1] for part in live.parts if part.startswith(ELSEWHERE)}
    if away:
        yield (
            f"aws:region: given {stack.region}, site {stack.name} stands in {', '.join(sorted(away))}; "
            "put it back, or `pulumi destroy` first (volumes and the data bucket stay there), or take "
            "another stack name"
        )


def _other_pools(stack: Stack, live: LiveSite) -> Iterator[str]:
    """A volume of the site can't become one of a pool, nor back: nodes find it by its index."""
    for each in live.volumes:
        volume = each.volume
        wanted = stack.volumes.get(volume.name)
        if wanted is None or wanted.adopt == volume.id or volume.site != stack.name:
            continue
        made = "node" if each.pooled else "site"
        if wanted.per != made:
            yield (
                f'volume "{volume.name}": {volume.id} was made with per: {made}, the file gives per: '
                f"{wanted.per}; put per: {made} back, or run `nightshift retire {volume.name}` and write "
                "from: with the snapshot that it makes"
            )


def _lost_sources(stack: Stack, found: Reconciliation, live: LiveSite) -> Iterator[str]:
    for name, index in found.creates:
        source = stack.volumes[name].source
        if source and index == 0 and source not in live.snapshots:
            yield (
                f'volume "{name}": from names {source}, which isn\'t in this account and region; '
                "check the id, or leave from out for a blank volume"
            )


def network_problems(zone: str, spec: NetworkSpec, live: LiveSite) -> Iterator[str]:
    """Edits that would replace the network under running nodes; AWS can't change these in place."""
    way_out = "put it back, or `pulumi destroy` first: volumes and the data bucket are kept"
    vpc, fence = live.parts.get("vpc"), live.parts.get(FENCE)
    if isinstance(spec.layout, Given):
        if vpc:
            yield f"site.network: given {spec.layout.vpc}, the site stands in its own {vpc.id}; {way_out}"
        elif fence and fence.vpc != spec.layout.vpc:
            yield f"site.network.vpc: given {spec.layout.vpc}, the site stands in {fence.vpc}; {way_out}"
        return
    if vpc and vpc.cidr != spec.layout.cidr:
        yield f"site.network.cidr: given {spec.layout.cidr}, {vpc.id} has {vpc.cidr}; {way_out}"
    if fence and vpc is None:
        yield f"site.network: an own VPC is asked for, the site stands in {fence.vpc}; {way_out}"
    for part in ("subnet-public", "subnet-private"):
        subnet = live.parts.get(part)
        if subnet and subnet.zone != zone:
            yield f"site.zone: given {zone}, subnet {subnet.id} lies in {subnet.zone}; {way_out}"


def _group(stack: Stack, name: str, plan: CapacityPlan, site: SiteContext, live: LiveSite) -> GroupDecision:
    group = stack.groups[name]
    calendar = calendar_of(stack.site, group, live.overrides.get(name))
    wanted = compile_actions(calendar.shifts, calendar.zone, calendar.nodes)
    changed, _ = changed_actions(live.actions.get(name, ()), wanted)
    spec = GroupSpec(
        group=name,
        nodes=group.nodes,
        boot_s=60 * minutes(group.boot),
        drain_s=60 * minutes(group.drain),
        fabric=group.nodes > 1 or plan.efa,
        template=_template(stack, name, group, plan),
        schedules=schedule_specs(wanted, changed, action_start_times(calendar, live.now)),
    )
    return GroupDecision(spec, identity_spec(stack, name, site), plan, calendar)


def _template(stack: Stack, name: str, group: Group, plan: CapacityPlan) -> TemplateSpec:
    own = isinstance(stack.site.network, OwnNetwork)
    return TemplateSpec(
        name=names.group_name(stack.name, name),
        image=stack.site.image,
        root_device=stack.site.image_root_device,
        root_gib=group.root_gib,
        hop_limit=group.hop_limit,
        key_name=stack.site.ssh.key if stack.site.ssh else None,
        public_address=True if own else None,
        plan=plan,
    )


def _warnings(stack: Stack, groups: dict[str, GroupDecision], live: LiveSite) -> Iterator[str]:
    """What happens now rather than at the next edge; a group released mid-shift stays so, unsaid."""
    for name, decided in groups.items():
        actions = tuple(schedule.action for schedule in decided.spec.schedules)
        before = live.actions.get(name, ())
        stands = name in live.groups
        if stands:
            yield from (f"groups.{name}: {why}" for why in near_firings(before, actions, live.now))
            if ending := wake_end_hint(name, decided.calendar, live.wake_ends.get(name), live.now):
                yield _with_stack(ending, name, stack.name)
        running = live.groups[name].desired if stands else 0
        hint = wake_hint(name, decided.calendar, running, live.now)
        if hint and (not stands or changed_actions(before, actions) != ((), ())):
            yield _with_stack(hint, name, stack.name)


def _gone(stack: Stack, found: Reconciliation, live: LiveSite) -> Iterator[str]:
    """A volume that was retired or deleted stays in the engine's state, which then sees nothing to make."""
    for name in sorted({name for name, _ in found.creates}):
        users = [group for group in live.groups if name in getattr(stack.groups.get(group), "volumes", ())]
        if users:
            mounted_by = ", ".join(sorted(users))
            yield (
                f"volumes.{name}: group {mounted_by} stands and no live volume has this name; a new one is "
                "made now, unless it was deployed before and is gone: then the engine's state still "
                f"holds the old one, and `pulumi refresh -s {stack.name}` comes before `pulumi up`"
            )


def _with_stack(hint: str, group: str, stack: str) -> str:
    """The verb as it must be said here."""
    return hint.replace(f"nightshift wake {group}", f"nightshift wake {group} --stack {stack}")

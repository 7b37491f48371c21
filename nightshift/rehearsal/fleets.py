"""Which nodes run in a rehearsal: real ones where this machine can, modelled ones for the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nightshift.rehearsal.control.fleet import Fleet, MixedFleet
from nightshift.rehearsal.control.model_fleet import ModelFleet
from nightshift.rehearsal.story import Break, Story
from nightshift.rehearsal.world.model import World

if TYPE_CHECKING:
    from nightshift.rehearsal.real.sandbox_fleet import SandboxFleet
    from nightshift.rehearsal.real.writers import Writers
    from nightshift.settings.models import Group, Stack

NONE = "none"
MODELLED = "Nodes are modelled, with times that were measured or are assumed; steps are the model's own."
REAL = (
    "Nodes of {group} are real: user data, agent and job run as processes in namespaces, on block devices of "
    "their own. Boot and drain took the seconds told, measured here, without the time in which EC2 starts a "
    "machine. In between time is compressed: whatever happens to a job comes after some {steps} steps, and "
    "these are the steps told. The job is a stand-in, a small model on the CPU; its GPUs' answers are "
    "recorded, and what job.run says isn't used. Modelled: the control plane, attaching and detaching, and "
    "what api-throttled, clock-jump, disk-full and slow-detach do."
)
OTHERS = " Nodes of other groups are modelled."


class UnknownGroup(ValueError):
    """The stack file has no such group; the text says which there are."""


@dataclass(frozen=True)
class Nodes:
    """The fleet of one run; `told` completes its story with what only the real nodes can tell."""

    fleet: Fleet
    told: Callable[[Story], Story]


def real_group(groups: Mapping[str, Group], wanted: str | None) -> str | None:
    """The group whose nodes are to be real: the one named, none, or the first that has a job, else the first.

    Raises UnknownGroup.
    """
    if wanted == NONE:
        return None
    if wanted is None:
        return next((name for name, group in groups.items() if group.job is not None), next(iter(groups)))
    if wanted not in groups:
        there = ", ".join(groups)
        raise UnknownGroup(f'given "{wanted}", no such group; there are {there}, and "{NONE}"')
    return wanted


@contextmanager
def fleet_of(
    stack: Stack,
    world: World,
    endpoint: str | None,
    seed: int,
    say: Callable[[str], None],
    real: str | None = None,
) -> Generator[Nodes]:
    """The fleet for one run; what it has started is gone when the context is left.

    `endpoint`: the emulated AWS that the stack stands in, None where only its recorded world is played.
    `real` as in `real_group`. Raises UnknownGroup.
    """
    model = ModelFleet(seed)
    name = real_group(stack.groups, real) if endpoint is not None else None
    if name is None or endpoint is None:
        yield Nodes(model, lambda story: replace(story, compressed=MODELLED))
        return
    why = _why_not(world, name)
    if why is not None:
        says = f"Nodes of {name} can't be real here: it {why}."
        say(says)
        yield Nodes(model, lambda story: replace(story, compressed=f"{says} {MODELLED}"))
        return
    from nightshift.rehearsal.real.opening import real_nodes

    with real_nodes(world, (name,), endpoint, say) as (fleet, writers):
        mixed = MixedFleet({name: fleet}, model)
        yield Nodes(mixed, lambda story: _told(story, name, fleet, writers))


def _why_not(world: World, name: str) -> str | None:
    from nightshift.rehearsal.real.able import reason_to_model

    manifest = next(group.manifest for group in world.groups if group.manifest.group == name)
    return reason_to_model(manifest)


def _told(story: Story, name: str, fleet: SandboxFleet, writers: Writers) -> Story:
    from nightshift.rehearsal.real.sandbox_fleet import TRAIN_STEPS

    says = REAL.format(group=name, steps=TRAIN_STEPS) + (OTHERS if len(story.groups) > 1 else "")
    story = _again_for_real(replace(story, compressed=says))
    wrong = [*fleet.wrongs()]
    if writers.seconds:
        wrong.append(f"a volume was mounted in two nodes for {writers.seconds:.2f} s, measured")
    if not wrong:
        return story
    broken = [Break("one-writer", story.end, one, story.events[-25:], story.replay) for one in wrong]
    twice = story.two_writer_seconds + math.ceil(writers.seconds)
    return replace(story, broken=(*story.broken, *broken), two_writer_seconds=twice)


def _again_for_real(story: Story) -> Story:
    """The command that plays it again has real nodes too; their seconds are measured anew each time."""
    replay = story.replay.replace(" --only control", "")
    broken = tuple(replace(one, replay=replay) for one in story.broken)
    return replace(story, replay=replay, broken=broken)

"""What the rules across fields look at: a whole stack, or a broken one with its unsound values replaced."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from nightshift.settings.group import Group
from nightshift.settings.models import Stack
from nightshift.settings.problem import Step
from nightshift.settings.site import Site
from nightshift.settings.storage import SnapshotPolicy, Volume


@dataclass(frozen=True)
class Scope:
    """The parts. `volume_names` and `policy_names` are None if unknown.

    `unsound` holds the paths of values that the file doesn't soundly give: a rule that reads such a field
    keeps quiet, and nothing is said at or below such a path.
    """

    region: str | None
    site: Site | None
    volumes: Mapping[str, Volume]
    snapshots: Mapping[str, SnapshotPolicy]
    groups: Mapping[str, Group]
    volume_names: frozenset[str] | None
    policy_names: frozenset[str] | None
    unsound: frozenset[tuple[Step, ...]] = field(default=frozenset())

    def sound(self, path: tuple[Step, ...], *fields: str) -> bool:
        """Whether the fields of the section at `path` are as the file gives them, down to the last value."""
        if not self.unsound:
            return True
        heads = {(*path, name) for name in fields}
        size = len(path) + 1
        return not any(bad[:size] in heads for bad in self.unsound)

    def replaced(self, path: tuple[Step, ...]) -> bool:
        """Whether the value at `path` is a stand-in, or lies in one."""
        return any(path[:size] in self.unsound for size in range(1, len(path) + 1))

    def timely(self, name: str) -> Group | None:
        """The group with those of its shifts that are sound; None without any."""
        group = self.groups[name]
        if not self.unsound:
            return group
        path: tuple[Step, ...] = ("groups", name)
        kept = tuple(
            shift
            for index, shift in enumerate(group.shifts)
            if not self.replaced((*path, "shifts", index))
            and self.sound((*path, "shifts", index), "days", "from", "to")
        )
        return group.model_copy(update={"shifts": kept}) if kept else None


def whole(stack: Stack, hidden: Collection[str] = ()) -> Scope:
    """All of a sound stack; of topics that are `hidden` nothing is known."""
    return Scope(
        stack.region,
        stack.site,
        stack.volumes,
        stack.snapshots,
        stack.groups,
        None if "volumes" in hidden else frozenset(stack.volumes),
        None if "snapshots" in hidden else frozenset(stack.snapshots),
    )

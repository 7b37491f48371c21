"""What the rules across fields look at: a whole stack, or the sound parts of a broken one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from nightshift.settings.group import Group
from nightshift.settings.models import Stack
from nightshift.settings.site import Site
from nightshift.settings.storage import SnapshotPolicy, Volume

Part = TypeVar("Part", bound=BaseModel)
Locations = tuple[tuple[str | int, ...], ...]
_STAND_IN = {"owner": "unknown", "image": "ami-00000000"}
"""For required fields of a site that no rule looks at."""
_ALONE: Mapping[type[BaseModel], frozenset[str]] = {
    Site: frozenset({"network", "ssh", "budget", "alerts", "log_days", "image_root_device", *_STAND_IN}),
    Volume: frozenset({"filesystem", "adopt", "from", "snapshots"}),
    SnapshotPolicy: frozenset(),
    Group: frozenset(
        {"job", "idle", "users", "notebook", "hop_limit", "boot", "drain", "root_gib", "gpu_hours_monthly"}
    ),
}
"""Fields without which the others can still be judged: broken ones are left out, and the rules go on."""


@dataclass(frozen=True)
class Scope:
    """The sound parts. `volume_names` and `policy_names` hold the broken ones too; None if unknown."""

    region: str | None
    site: Site | None
    volumes: Mapping[str, Volume]
    snapshots: Mapping[str, SnapshotPolicy]
    groups: Mapping[str, Group]
    volume_names: frozenset[str] | None
    policy_names: frozenset[str] | None


def whole(stack: Stack) -> Scope:
    """All of a sound stack."""
    return Scope(
        stack.region,
        stack.site,
        stack.volumes,
        stack.snapshots,
        stack.groups,
        frozenset(stack.volumes),
        frozenset(stack.snapshots),
    )


def sound_parts(data: Mapping[str, object], error: ValidationError) -> Scope:
    """What is sound in `data`, which `error` refused."""
    at = tuple(detail["loc"] for detail in error.errors(include_url=False))
    region = data.get("region")
    site = _part(Site, data.get("site"), tuple(loc[1:] for loc in at if loc[0] == "site"))
    return Scope(
        region=region if isinstance(region, str) and ("region",) not in at else None,
        site=site,
        volumes=_parts(Volume, "volumes", data, at),
        snapshots=_parts(SnapshotPolicy, "snapshots", data, at),
        groups=_parts(Group, "groups", data, at),
        volume_names=_names(data.get("volumes")),
        policy_names=_names(data.get("snapshots")),
    )


def _names(topic: object) -> frozenset[str] | None:
    if topic is None:
        return frozenset()
    return frozenset(map(str, topic)) if isinstance(topic, Mapping) else None


def _parts(model: type[Part], topic: str, data: Mapping[str, object], at: Locations) -> dict[str, Part]:
    given = data.get(topic)
    if not isinstance(given, Mapping):
        return {}
    parts = {
        str(name): _part(model, value, tuple(loc[2:] for loc in at if loc[:2] == (topic, name)))
        for name, value in given.items()
    }
    return {name: part for name, part in parts.items() if part is not None}


def _part(model: type[Part], value: object, at: Locations) -> Part | None:
    broken = {str(loc[0]) if loc else "" for loc in at}
    if not isinstance(value, Mapping) or not broken <= _ALONE[model]:
        return None
    kept = {key: item for key, item in value.items() if key not in broken}
    stand_ins = {key: item for key, item in _STAND_IN.items() if key in broken}
    return model.model_validate({**kept, **stand_ins})

"""A broken stack's sound parts: what is unsound in it gives way to neutral values, so that rules go on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from nightshift.catalog.suggest import closest
from nightshift.settings.group import CapacityBlock, Group, Idle, Job, Mix, Shift
from nightshift.settings.problem import Step
from nightshift.settings.scope import Scope
from nightshift.settings.site import Budget, GivenNetwork, OwnNetwork, Site, Ssh
from nightshift.settings.storage import SnapshotPolicy, Volume

Part = TypeVar("Part", bound=BaseModel)
Path = tuple[Step, ...]
_TOPICS: Mapping[str, type[BaseModel]] = {"volumes": Volume, "snapshots": SnapshotPolicy, "groups": Group}
_SECTIONS: Mapping[str, type[BaseModel]] = {
    "budget": Budget,
    "ssh": Ssh,
    "idle": Idle,
    "job": Job,
    "shifts": Shift,
    "\0mix": Mix,
    "\0block": CapacityBlock,
    "\0own": OwnNetwork,
    "\0given": GivenNetwork,
}
"""Sections inside a part by their field, or by the tag of their form."""
_STAND_INS: Mapping[str, object] = {
    "zone": "us-east-1a",
    "owner": "unknown",
    "image": "ami-00000000",
    "monthly_usd": 1,
    "notify": ("unknown@example.org",),
    "key": "unknown",
    "vpc": "vpc-00000000",
    "subnet": "subnet-00000000",
    "size_gib": 16_384,
    "at_utc": "00:00",
    "keep": 1,
    "days": ("mon",),
    "from": "00:00",
    "to": "00:01",
    "shifts": ({"days": ("mon",), "from": "00:00", "to": "00:01"},),
    "below_percent": 1,
    "for": "1h",
    "repo": "https://example.org/unknown",
    "run": "unknown",
    "capacity_block": "cr-00000000",
    "ends": "2099-12-31T00:00Z",
}
"""For fields that must be given; others fall back to their defaults."""
_SSH_FROM = ("203.0.113.0/24",)
_ITEMS: Mapping[str, str] = {
    "volumes": "unsound{}",
    "users": "unsound{}",
    "secrets": "unsound{}",
    "alerts": "unsound{}@example.org",
    "notify": "unsound{}@example.org",
}
_DEPTH = 4
"""Sections inside one another, from a part down to a value."""
_WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def sound_parts(data: Mapping[str, object], error: ValidationError, hidden: Collection[str] = ()) -> Scope:
    """What is sound in `data`, which `error` refused; of topics that are `hidden` nothing is known."""
    mender = _Mender()
    at = tuple(tuple(detail["loc"]) for detail in error.errors(include_url=False))
    region = data.get("region")
    known_region = isinstance(region, str) and ("region",) not in at and "region" not in hidden
    dark = {*hidden, *_misspelt(data)}
    parts = {topic: mender.parts(topic, data.get(topic), at) for topic in _TOPICS}
    return Scope(
        region=str(region) if known_region else None,
        site=mender.part(Site, data.get("site"), ("site",), _below(at, ("site",))),
        volumes=parts["volumes"],
        snapshots=parts["snapshots"],
        groups=parts["groups"],
        volume_names=None if "volumes" in dark else _names(data.get("volumes")),
        policy_names=None if "snapshots" in dark else _names(data.get("snapshots")),
        unsound=frozenset(mender.unsound),
    )


def _misspelt(data: Mapping[str, object]) -> set[str]:
    """Absent topics that an unknown one may have meant."""
    absent = [topic for topic in _TOPICS if topic not in data]
    strangers = [key for key in data if key not in {"name", "region", "site", *_TOPICS}]
    return {near for key in strangers if (near := closest(key, absent))}


def _names(topic: object) -> frozenset[str] | None:
    if topic is None:
        return frozenset()
    return frozenset(map(str, topic)) if isinstance(topic, Mapping) else None


def _below(at: Collection[Path], head: Path) -> list[Path]:
    """What errors say below `head`; of a name that breaks its pattern the value is sound."""
    rests = (loc[len(head) :] for loc in at if loc[: len(head)] == head)
    return [rest for rest in rests if rest != ("[key]",)]


class _Mender:
    """Replaces what errors name, and notes where."""

    def __init__(self) -> None:
        self.unsound: set[Path] = set()

    def parts(self, topic: str, given: object, at: Collection[Path]) -> dict[str, Any]:
        """The topic's parts by name, without those of which nothing is left."""
        if not isinstance(given, Mapping):
            return {}
        model = _TOPICS[topic]
        found = {
            str(name): self.part(model, value, (topic, str(name)), _below(at, (topic, name)))
            for name, value in given.items()
        }
        return {name: part for name, part in found.items() if part is not None}

    def part(self, model: type[Part], value: object, path: Path, at: Collection[Path]) -> Part | None:
        """The part with stand-ins; None where it is no mapping.

        What is left of a section may be unsound in its turn, such as a form without its only key.
        """
        for _ in range(_DEPTH):
            if not isinstance(value, Mapping) or () in at:
                return None
            value = self._section(model, value, path, at)
            try:
                return model.model_validate(value)
            except ValidationError as error:
                at = [tuple(detail["loc"]) for detail in error.errors(include_url=False)]
        return None

    def _section(
        self, model: type[BaseModel], value: Mapping[str, object], path: Path, at: Collection[Path]
    ) -> dict[str, object]:
        known = [field.alias or name for name, field in model.model_fields.items()]
        result = dict(value)
        for key in dict.fromkeys(loc[0] for loc in at):
            rests = [loc[1:] for loc in at if loc[0] == key]
            if key not in known:
                result.pop(str(key), None)
                self._missed(str(key), [name for name in known if name not in value], path)
                continue
            mended = self._value(str(key), value.get(str(key)), (*path, key), rests)
            if mended is None:
                mended = self._stand_in(model, str(key), (*path, key))
            if mended is None:
                result.pop(str(key), None)
            else:
                result[str(key)] = mended
        for key in self._required(model, result):
            result[key] = self._stand_in(model, key, (*path, key))
        return result

    def _missed(self, key: str, absent: list[str], path: Path) -> None:
        """An unknown key may be a slip of one that is absent."""
        near = closest(key.replace("-", "_"), absent)
        if near:
            self.unsound.add((*path, near))

    def _required(self, model: type[BaseModel], given: Mapping[str, object]) -> list[str]:
        fields = ((field.alias or name, field) for name, field in model.model_fields.items())
        return [key for key, field in fields if field.is_required() and key not in given]

    def _stand_in(self, model: type[BaseModel], key: str, path: Path) -> object:
        self.unsound.add(path)
        if key == "from" and model is not Shift:
            return _SSH_FROM if model is Ssh else None
        return _STAND_INS.get(key)

    def _value(self, key: str, value: object, path: Path, at: list[Path]) -> object:
        """The value with what errors name inside it replaced; None where they name all of it."""
        if () in at:
            return None
        heads = {str(loc[0]) for loc in at if str(loc[0]).startswith("\0")}
        if heads:
            key, at = heads.pop(), [loc[1:] for loc in at]
            if () in at:
                return None
        if isinstance(value, Mapping) and key in _SECTIONS:
            return self._section(_SECTIONS[key], value, path, at)
        if isinstance(value, tuple) and all(isinstance(loc[0], int) for loc in at):
            return self._list(key, value, path, at)
        return None

    def _list(self, key: str, value: tuple[object, ...], path: Path, at: list[Path]) -> object:
        items = list(value)
        for index in dict.fromkeys(loc[0] for loc in at):
            assert isinstance(index, int)
            rests = [loc[1:] for loc in at if loc[0] == index]
            item = items[index]
            if key == "shifts" and isinstance(item, Mapping) and () not in rests:
                items[index] = self._section(Shift, item, (*path, index), rests)
                continue
            other = _other(key, index, value)
            if other is None:
                return None
            self.unsound.add((*path, index))
            items[index] = other
        return tuple(items)


def _other(key: str, index: int, given: tuple[object, ...]) -> object:
    """A sound item for one that is not, unlike those that are; None where there is none."""
    if key == "shifts":
        return {"days": ("mon",), "from": "00:00", "to": "00:01"}
    if key == "days":
        return next((day for day in _WEEK if day not in given), None)
    return _ITEMS[key].format(index) if key in _ITEMS else None

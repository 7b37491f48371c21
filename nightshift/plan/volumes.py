"""Which volumes of the file are alive already, which are new, and what must stop the run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

State = Literal["creating", "available", "in-use", "deleting", "deleted", "error"]
Key = tuple[str, int]
_ALIVE = frozenset({"creating", "available", "in-use"})


@dataclass(frozen=True)
class VolumeSpec:
    """A volume of the file. A pool (`per: node`) has `count` volumes, indices 0 to count - 1.

    `adopt` names a live volume to take over, `from_snapshot` where a new one starts from; its size in
    GiB is `snapshot_size_gib`, None when not known.
    """

    name: str
    size_gib: int
    count: int = 1
    adopt: str | None = None
    from_snapshot: str | None = None
    snapshot_size_gib: int | None = None


@dataclass(frozen=True)
class LiveVolume:
    """A volume found alive: by the site's tag, or because the file adopts its id.

    `name` and `index` are its tags' (empty and 0 without them), `site` the tag's value or None.
    """

    id: str
    name: str
    index: int
    zone: str
    size_gib: int
    state: State
    site: str | None


@dataclass(frozen=True)
class Reconciliation:
    """What to declare with which live id, what anew, and every reason to stop before a change."""

    imports: dict[Key, str] = field(default_factory=dict)
    creates: tuple[Key, ...] = ()
    problems: tuple[str, ...] = ()


def reconcile(
    declared: Sequence[VolumeSpec], live: Sequence[LiveVolume], zone: str, site: str
) -> Reconciliation:
    """Match the file's volumes to the live ones by name and index.

    Volumes being deleted, deleted or in error don't count as alive. `zone` and `site` are the stack's.
    """
    alive = [volume for volume in live if volume.state in _ALIVE]
    adopted = {spec.adopt: spec for spec in declared if spec.adopt}
    mine: dict[Key, list[LiveVolume]] = defaultdict(list)
    for volume in alive:
        if volume.id in adopted:
            mine[(adopted[volume.id].name, 0)].append(volume)
        elif volume.site == site and volume.name:
            mine[(volume.name, volume.index)].append(volume)
    wanted = {(spec.name, index): spec for spec in declared for index in range(spec.count)}
    problems = [*_adoption_problems(declared, alive, site), *_unnamed(mine, wanted)]
    imports: dict[Key, str] = {}
    for key, spec in wanted.items():
        problems.extend(_problems(key, spec, mine.get(key, []), zone))
        if mine.get(key):
            imports[key] = mine[key][0].id
    creates = tuple(key for key in wanted if key not in imports and not wanted[key].adopt)
    return Reconciliation({} if problems else imports, () if problems else creates, tuple(problems))


def _problems(key: Key, spec: VolumeSpec, found: list[LiveVolume], zone: str) -> Iterator[str]:
    if len(found) > 1:
        yield _two_alive(key, found)
    for volume in found:
        if volume.zone != zone:
            yield _elsewhere(key, volume, zone)
        if spec.size_gib < volume.size_gib:
            yield (
                f"volume {_label(key)}: {volume.id} has {volume.size_gib} GiB, the file gives "
                f"{spec.size_gib} GiB; AWS can't shrink a volume, write size_gib: {volume.size_gib} or more"
            )
    if not found and spec.snapshot_size_gib is not None and spec.size_gib < spec.snapshot_size_gib:
        yield (
            f"volume {_label(key)}: the file gives {spec.size_gib} GiB, snapshot {spec.from_snapshot} has "
            f"{spec.snapshot_size_gib} GiB; write size_gib: {spec.snapshot_size_gib} or more"
        )


def _adoption_problems(
    declared: Sequence[VolumeSpec], alive: Sequence[LiveVolume], site: str
) -> Iterator[str]:
    by_id = {volume.id: volume for volume in alive}
    takers: dict[str, list[str]] = defaultdict(list)
    for spec in declared:
        if not spec.adopt:
            continue
        takers[spec.adopt].append(spec.name)
        volume = by_id.get(spec.adopt)
        if spec.count > 1:
            yield f'volume "{spec.name}": adopt takes one volume, a pool has {spec.count}; leave adopt out'
        if volume is None:
            yield (
                f'volume "{spec.name}": adopt names {spec.adopt}, which isn\'t alive in this account and '
                "region; check the id, or leave adopt out for a new volume, or write from: snap-... to start "
                "from a snapshot"
            )
        elif volume.site not in (None, site):
            yield (
                f'volume "{spec.name}": adopt names {volume.id}, which belongs to site "{volume.site}"; let '
                f"that site go of it first (`nightshift retire {volume.name}` there, from: snap-... here)"
            )
    for volume_id, names in takers.items():
        if len(names) > 1:
            yield f"volumes {', '.join(names)}: they all adopt {volume_id}; one volume takes one name"


def _unnamed(mine: dict[Key, list[LiveVolume]], wanted: dict[Key, VolumeSpec]) -> Iterator[str]:
    homeless = sorted({name for name, index in wanted if not mine.get((name, index))})
    for key, found in mine.items():
        if key in wanted:
            continue
        for volume in found:
            others = [name for name in homeless if name != key[0]]
            rename = f" (was it renamed to {' or '.join(others)}?)" if others else ""
            yield (
                f"volume {_label(key)}: {volume.id} ({volume.size_gib} GiB, {volume.zone}) is alive and "
                f"the file no longer names it{rename}; put it back, or write adopt: {volume.id} under its "
                f"new name, or run `nightshift retire {key[0]}` (it makes a snapshot, then deletes)"
            )


def _two_alive(key: Key, found: list[LiveVolume]) -> str:
    each = ", ".join(
        f"{volume.id} ({volume.size_gib} GiB, {volume.zone}, {volume.state})" for volume in found
    )
    return (
        f"volume {_label(key)}: {len(found)} are alive: {each}; write adopt: with an id under another "
        f"name, or run `nightshift retire {key[0]}` for the one that goes"
    )


def _elsewhere(key: Key, volume: LiveVolume, zone: str) -> str:
    return (
        f"volume {_label(key)}: {volume.id} is in {volume.zone}, the file says {zone}, and a volume can't "
        f"move; put zone: {volume.zone} back, or run `nightshift retire {key[0]}` and write from: with the "
        "snapshot that it makes"
    )


def _label(key: Key) -> str:
    name, index = key
    return f'"{name}"' if index == 0 else f'"{name}" (index {index})'

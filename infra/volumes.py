"""The site's persistent volumes: taken over when they live, made when they don't, kept when the stack goes.

Nodes attach them through the API; the program declares no attachment. An imported volume can't be replaced:
the engine itself refuses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_aws import ebs

from infra.live import LiveSite
from infra.options import SiteContext, child
from nightshift.plan import names
from nightshift.plan.volumes import Key
from nightshift.settings.models import Stack
from nightshift.settings.storage import Volume

GP3_IOPS = 3_000
GP3_MIBPS = 125
"""AWS's own defaults for gp3 (EBS User Guide), sent always: a removed setting must go back to them."""


@dataclass(frozen=True)
class VolumeUnit:
    """One volume. `index` is None for a volume of the site, else its place in the pool."""

    name: str
    index: int | None
    size_gib: int
    type: str
    iops: int
    throughput: int | None
    snapshot_id: str | None
    policy: str | None
    live_id: str | None

    @property
    def label(self) -> str:
        """`runs`, or `scratch.3` in a pool: no volume can be named so."""
        return self.name if self.index is None else f"{self.name}.{self.index}"


def volume_units(
    stack: Stack, counts: Mapping[str, int], imports: Mapping[Key, str]
) -> tuple[VolumeUnit, ...]:
    """Every volume to declare; `counts` says how many a pool has, `imports` which ones live already."""
    return tuple(
        _unit(name, volume, index, imports.get((name, index)))
        for name, volume in stack.volumes.items()
        for index in range(counts[name])
    )


def _unit(name: str, volume: Volume, index: int, live_id: str | None) -> VolumeUnit:
    gp3 = volume.type == "gp3"
    return VolumeUnit(
        name=name,
        index=index if volume.per == "node" else None,
        size_gib=volume.size_gib,
        type=volume.type,
        iops=volume.iops or GP3_IOPS,
        throughput=(volume.throughput or GP3_MIBPS) if gp3 else None,
        snapshot_id=None if live_id else volume.source,
        policy=volume.snapshots,
        live_id=live_id,
    )


class Volumes(pulumi.ComponentResource):
    """All volumes of the site; `ids` by volume name, in the order of the pool."""

    ids: dict[str, list[pulumi.Output[str]]]

    def __init__(
        self,
        name: str,
        units: tuple[VolumeUnit, ...],
        *,
        site: SiteContext,
        live: LiveSite,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("nightshift:infra:Volumes", name, None, opts)
        self.ids = {}
        for unit in units:
            volume = self._volume(name, unit, site)
            self.ids.setdefault(unit.name, []).append(volume.id)
        self.register_outputs({"ids": self.ids})

    def _volume(self, name: str, unit: VolumeUnit, site: SiteContext) -> ebs.Volume:
        return ebs.Volume(
            f"{name}-{unit.label}",
            availability_zone=site.zone,
            size=unit.size_gib,
            type=unit.type,
            iops=unit.iops,
            throughput=unit.throughput,
            encrypted=True,
            snapshot_id=unit.snapshot_id,
            tags=names.volume_tags(site.name, unit.name, site.owner, index=unit.index, policy=unit.policy),
            opts=child(self, import_id=unit.live_id, retain=True, ignore=("snapshotId",)),
        )

"""Rules of volumes: what EBS allows by type, where they come from, who uses them."""

from __future__ import annotations

from collections.abc import Iterator

from nightshift.catalog import limits
from nightshift.settings.problem import Problem
from nightshift.settings.rules.common import no_such
from nightshift.settings.scope import Scope
from nightshift.settings.storage import Volume


def findings(scope: Scope) -> Iterator[Problem]:
    """The volumes' problems."""
    takers: dict[str, str] = {}
    for name, volume in sorted(scope.volumes.items()):
        if scope.sound(("volumes", name), "type"):
            yield from _gp3(name, volume, scope) if volume.type == "gp3" else _io2(name, volume)
        yield from _origin(name, volume, takers)
        policies = scope.policy_names
        if volume.snapshots and policies is not None and volume.snapshots not in policies:
            why = no_such("policy", volume.snapshots, sorted(policies), "snapshots")
            yield Problem(("volumes", name, "snapshots"), why)
        yield from _users(name, volume, scope)


def _gp3(name: str, volume: Volume, scope: Scope) -> Iterator[Problem]:
    iops = volume.iops if volume.iops is not None else limits.GP3_IOPS.least
    at = ("volumes", name, "iops")
    most = max(limits.GP3_IOPS.least, limits.GP3_IOPS_PER_GIB.value * volume.size_gib)
    if iops not in limits.GP3_IOPS:
        yield Problem(at, f"given {iops}, gp3 allows {limits.GP3_IOPS.least} to {limits.GP3_IOPS.most}")
    elif iops > most:
        yield Problem(
            at,
            f"given {iops}, gp3 allows {limits.GP3_IOPS_PER_GIB.value} per GiB, here {most}; "
            "lower it or raise size_gib",
        )
    fastest = iops // limits.GP3_IOPS_PER_THROUGHPUT.value
    if volume.throughput and volume.throughput > fastest and scope.sound(("volumes", name), "iops"):
        yield Problem(
            ("volumes", name, "throughput"),
            f"given {volume.throughput}, gp3 allows a quarter of iops, here {fastest}; "
            f"write iops: {volume.throughput * limits.GP3_IOPS_PER_THROUGHPUT.value} or lower it",
        )


def _io2(name: str, volume: Volume) -> Iterator[Problem]:
    if volume.size_gib not in limits.IO2_SIZE_GIB:
        least, most = limits.IO2_SIZE_GIB.least, limits.IO2_SIZE_GIB.most
        yield Problem(("volumes", name, "size_gib"), f"given {volume.size_gib}, io2 allows {least} to {most}")
    if volume.throughput is not None:
        yield Problem(("volumes", name, "throughput"), "io2 has none to set; take it out, io2 follows iops")
    most = limits.IO2_IOPS_PER_GIB.value * volume.size_gib
    if volume.iops is None:
        yield Problem(
            ("volumes", name, "iops"), "missing, io2 is bought by IOPS; add it, such as iops: 16000"
        )
    elif volume.iops > most:
        yield Problem(
            ("volumes", name, "iops"),
            f"given {volume.iops}, io2 allows {limits.IO2_IOPS_PER_GIB.value} per GiB, here {most}; "
            "lower it or raise size_gib",
        )


def _origin(name: str, volume: Volume, takers: dict[str, str]) -> Iterator[Problem]:
    if volume.adopt is None:
        return
    path = ("volumes", name, "adopt")
    if volume.source:
        yield Problem(
            path, "stands beside from, but a volume is either taken over or made anew; keep one of them"
        )
    if volume.per == "node":
        yield Problem(
            path, "takes over one volume, but per: node makes one for each node; take one of them out"
        )
    if volume.adopt in takers:
        yield Problem(
            path,
            f"given {volume.adopt}, which volumes.{takers[volume.adopt]} adopts; one volume takes one name",
        )
    takers.setdefault(volume.adopt, name)


def _users(name: str, volume: Volume, scope: Scope) -> Iterator[Problem]:
    users = sorted(group for group, settings in scope.groups.items() if name in settings.volumes)
    if volume.per == "node" and len(users) > 1:
        yield Problem(
            ("volumes", name, "per"),
            f"given node, which serves one group, but groups {', '.join(users)} mount it; "
            "give each group a volume of its own",
        )

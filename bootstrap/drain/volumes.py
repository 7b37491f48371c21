"""The volumes at a drain's end: unmounted without asking AWS anything, then given back."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bootstrap.drain.budget import waits_for
from bootstrap.manifest import BootVolume
from bootstrap.storage.claim import VolumeAws
from bootstrap.storage.mounts import mount_point, read_mounts
from bootstrap.storage.outcome import Step, StorageError
from bootstrap.storage.place import Place
from bootstrap.storage.release import release_all, unmount


@dataclass(frozen=True)
class Let:
    """What a step on all volumes came to, in words."""

    done: bool
    says: str


@dataclass(frozen=True)
class Volumes:
    """The group's volumes on this node."""

    wanted: Sequence[BootVolume]
    aws: VolumeAws
    place: Place

    def unmount(self, limit_s: float) -> Let:
        """Sync and unmount every one that stands, the last claimed first; one that can't be harms no other.

        A stopped network doesn't matter: what is mounted is in the mount table.
        """
        names = sorted((each.name for each in self.wanted), reverse=True)
        until = time.monotonic() + limit_s
        said: list[str] = []
        problems: list[str] = []
        for left, name in zip(range(len(names), 0, -1), names, strict=True):
            share_s = max(1.0, (until - time.monotonic()) / left)
            place = replace(self.place, waits=waits_for(share_s, 0.0))
            try:
                said += _unmount(name, place)
            except (StorageError, OSError) as error:
                problems.append(str(error))
        return Let(not problems, "; ".join([*problems, *said]) or "nothing was mounted")

    def release(self, limit_s: float) -> Let:
        """Detach every one, and wait until others can have it."""
        report = release_all(self.wanted, self.aws, replace(self.place, waits=waits_for(limit_s, limit_s)))
        problems = [f"{each.check}: {each.found}" for each in report.problems]
        freed = [each.id for each in report.volumes if each.problem is None]
        return Let(report.clean, "; ".join(problems) or ", ".join(freed) or "none was attached")


def _unmount(name: str, place: Place) -> list[str]:
    """Words on what was done. Raises StorageError, OSError."""
    point = mount_point(name, place)
    there = [each for each in read_mounts(place.roots.proc) if each.point == point]
    steps: list[Step] = []
    ended: list[str] = []
    if there:
        unmount(name, there[-1].number, place, steps, ended)
    took = ", ".join(f"{step.name} {step.seconds:.2f} s" for step in steps)
    return [f"{name}: {took}" + (f", ended {', '.join(ended)}" if ended else "")] if there else []

"""From the manifest to mounted volumes: claim all, then find, examine, make, check, mount and grow each.

A restarted agent calls it again: what is attached and mounted already is found and left as it is.
"""

from __future__ import annotations

from bootstrap.manifest import BootManifest
from bootstrap.readiness.verdict import Finding
from bootstrap.storage.claim import Claimed, VolumeAws, claim_all
from bootstrap.storage.devices import Device, choose, find, linked_name, look
from bootstrap.storage.growing import grow
from bootstrap.storage.making import look_and_make
from bootstrap.storage.mounts import check, is_mounted, mount, mount_point, read_mounts
from bootstrap.storage.order import LiveVolume
from bootstrap.storage.outcome import AttachReport, Mounted, Step, StorageError
from bootstrap.storage.place import Place
from bootstrap.storage.release import release, release_all
from bootstrap.storage.waiting import Deadline

GIB = 1 << 30


def attach_all(manifest: BootManifest, aws: VolumeAws, place: Place) -> AttachReport:
    """Mount every volume of the manifest at `data`/NAME. All or nothing: on a problem every volume that
    wasn't mounted before this call is let go again; one that was stays as it was, somebody may use it."""
    whole = Deadline(0, place.clock)
    claims = claim_all(manifest.volumes, aws, place)
    before = {each.volume.id for each in claims.held if _stands(each.volume, place)}
    mounted: list[Mounted] = []
    problem = claims.problem
    try:
        for claimed in claims.held if problem is None else ():
            mounted.append(_stand(claimed, place))
    except StorageError as error:
        problem = error
    if problem is None:
        return AttachReport(tuple(mounted), (), (), whole.seconds)
    fresh = [each.volume for each in claims.held if each.volume.id not in before]
    steps, problems = _let_go(fresh, aws, place)
    stays = tuple(each for each in mounted if each.id in before)
    return AttachReport(stays, steps, (problem.finding(), *problems), whole.seconds)


def _stands(volume: LiveVolume, place: Place) -> bool:
    """Whether an earlier run has mounted it, wherever."""
    seen, _ = choose(look(place.roots), linked_name(place.roots, volume.serial), volume.serial)
    return seen is not None and any(each.number == seen.number for each in read_mounts(place.roots.proc))


def _let_go(
    fresh: list[LiveVolume], aws: VolumeAws, place: Place
) -> tuple[tuple[Step, ...], tuple[Finding, ...]]:
    done = [release(each, aws, place) for each in reversed(fresh)]
    steps = tuple(step for each in done for step in each.steps)
    return steps, tuple(each.problem for each in done if each.problem)


def _stand(claimed: Claimed, place: Place) -> Mounted:
    """One claimed volume, mounted. Raises StorageError."""
    name, filesystem = claimed.wish.name, claimed.wish.filesystem
    try:
        device, found = find(name, claimed.volume.serial, place)
        steps, was, formatted = [claimed.step, found], "mounted", False
        stood = is_mounted(name, device, place)
        if not stood:
            was, formatted = _mount(claimed, device, place, steps)
        grown = grow(name, filesystem, device, place, unused=not stood)
    except OSError as error:
        raise StorageError(name, "a device that answers", str(error), "reboot the node") from error
    if grown.step is not None:
        steps.append(grown.step)
    return Mounted(
        name,
        claimed.volume.id,
        device.path,
        mount_point(name, place),
        filesystem,
        device.size,
        was,
        formatted,
        grown.done,
        tuple(steps),
        grown.step.says if grown.step and not grown.done else "",
    )


def _mount(claimed: Claimed, device: Device, place: Place, steps: list[Step]) -> tuple[str, bool]:
    wish, expected = claimed.wish, claimed.volume.size_gib * GIB
    blank = wish.blank and not claimed.volume.snapshot
    was, formatted, made = look_and_make(wish.name, wish.filesystem, blank, device, expected, place)
    steps += made
    steps.append(check(wish.name, wish.filesystem, device, place))
    steps.append(mount(wish.name, wish.filesystem, device, place))
    return was.kind, formatted


__all__ = ["attach_all", "release_all"]

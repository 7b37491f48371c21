"""Gives volumes back: sync, unmount, prove that nobody holds the device, detach, wait until it's free."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bootstrap.aws import AwsError, refusal
from bootstrap.manifest import BootVolume
from bootstrap.storage.claim import VolumeAws
from bootstrap.storage.devices import Seen, choose, held_elsewhere, linked_name, look, same_serial
from bootstrap.storage.holders import end, scan
from bootstrap.storage.mounts import Mount, mount_point, read_mounts
from bootstrap.storage.order import LiveVolume, judge_refusal
from bootstrap.storage.outcome import Released, ReleaseReport, Step, StorageError
from bootstrap.storage.place import Place
from bootstrap.storage.waiting import Deadline, wait_for


def release_all(volumes: Sequence[BootVolume], aws: VolumeAws, place: Place) -> ReleaseReport:
    """Give back every volume of the manifest that this node holds, the last claimed first.

    One that can't be let go doesn't keep the others. Nothing held is a success: calling again is a no-op.
    """
    whole = Deadline(0, place.clock)
    try:
        live = aws.site_volumes([each.name for each in volumes]) if volumes else []
    except AwsError as error:
        problem = StorageError("all", "EC2 to describe the volumes", str(error), "run it again").finding()
        return ReleaseReport((), whole.seconds, (problem,))
    mine = [each for each in live if each.holder == place.instance]
    ordered = sorted(mine, key=lambda each: (each.name, each.index or 0), reverse=True)
    done = tuple(release(each, aws, place) for each in ordered)
    return ReleaseReport(done, whole.seconds, tuple(each.problem for each in done if each.problem))


def release(volume: LiveVolume, aws: VolumeAws, place: Place) -> Released:
    """Give one volume back, as far as it goes."""
    steps: list[Step] = []
    ended: list[str] = []
    try:
        seen = _device(volume, place)
        if seen is not None:
            path = str(place.roots.dev / seen.name)
            unmount(volume.name, seen.number, place, steps, ended)
            _free(volume.name, path, seen.number, place, steps, ended)
        _detach(volume, aws, place, steps)
    except StorageError as error:
        return Released(volume.name, volume.id, tuple(ended), tuple(steps), error.finding())
    except OSError as error:
        found = StorageError(
            volume.name, "a device that answers", str(error), "end the node; EC2 then lets go"
        )
        return Released(volume.name, volume.id, tuple(ended), tuple(steps), found.finding())
    return Released(volume.name, volume.id, tuple(ended), tuple(steps))


def _device(volume: LiveVolume, place: Place) -> Seen | None:
    """Its device, None when it is gone. What can be told from no other, or is gone under a mount, stays."""
    seen, problem = choose(look(place.roots), linked_name(place.roots, volume.serial), volume.serial)
    if problem and not _used(volume, place):
        return None
    point = mount_point(volume.name, place)
    if seen is None and not problem and any(each.point == point for each in read_mounts(place.roots.proc)):
        problem = f"something is mounted at {point}, but no device has serial {volume.serial}"
    if problem:
        raise StorageError(volume.name, "its device, to see that nobody uses it", problem, "end the node")
    return seen


def _used(volume: LiveVolume, place: Place) -> bool:
    """Whether any device that may be the volume's is in use; one that can't be opened counts as used."""
    link = linked_name(place.roots, volume.serial)
    maybe = [
        each for each in look(place.roots) if each.name == link or same_serial(each.serial, volume.serial)
    ]
    try:
        return any(held_elsewhere(str(place.roots.dev / each.name)) for each in maybe)
    except OSError:
        return True


def mounts_of(mounts: Sequence[Mount], number: str) -> tuple[Mount, ...]:
    """What to unmount, in order: all mounts of the device and all that lie below one of them, deepest and
    latest first."""
    roots = [each.point for each in mounts if each.number == number]
    inside = [
        each
        for each in mounts
        if any(each.point == root or each.point.startswith(f"{root}/") for root in roots)
    ]
    return tuple(reversed(inside))


def unmount(name: str, number: str, place: Place, steps: list[Step], ended: list[str]) -> None:
    """Unmount the device everywhere in this namespace; ends who is in the way. Raises StorageError."""
    points = mounts_of(read_mounts(place.roots.proc), number)
    if not points:
        return
    synced = place.run(["sync", "-f", points[-1].point], place.waits.sync_s)
    steps.append(Step("sync", synced.seconds, "written" if synced.code == 0 else synced.words))
    for point in points:
        _umount(name, point, place, steps, ended)


def _umount(name: str, point: Mount, place: Place, steps: list[Step], ended: list[str]) -> None:
    ran = place.run(["umount", point.point], place.waits.umount_s)
    if ran.code != 0 and _there(point, place):
        _end(name, point.number, place, steps, ended)
        ran = place.run(["umount", point.point], place.waits.umount_s)
    if ran.code != 0 and _there(point, place):
        left = ", ".join(each.words for each in scan(place.roots.proc, point.number)) or "no process seen"
        remedy = "end them, or end the node: EC2 lets go of its volumes then"
        raise StorageError(name, f"{point.point} unmounted", f"{ran.words}; held by {left}", remedy)
    steps.append(Step("unmount", ran.seconds, point.point))


def _there(point: Mount, place: Place) -> bool:
    """A mount of several points may go with the first."""
    return any(
        (each.number, each.point) == (point.number, point.point) for each in read_mounts(place.roots.proc)
    )


def _end(
    name: str, number: str, place: Place, steps: list[Step], ended: list[str], *, copies: bool = False
) -> None:
    proc = place.roots.proc
    gone, left, seconds = end(
        lambda: scan(proc, number, copies=copies), proc, place, f"volume {name}: waiting for processes to end"
    )
    ended.extend(each.words for each in gone)
    words = ", ".join(each.words for each in gone) or "nobody"
    steps.append(Step("end", seconds, f"ended {words}" + (f"; left {len(left)}" if left else "")))


def _free(name: str, path: str, number: str, place: Place, steps: list[Step], ended: list[str]) -> None:
    """Nobody else's mount namespace may hold a copy, though umount returned 0 here."""
    if not Path(path).exists():
        return
    began = place.clock.now()
    if held_elsewhere(path):
        _end(name, number, place, steps, ended, copies=True)
        free, _ = wait_for(
            lambda: not held_elsewhere(path) or None,
            place.waits.kill_s,
            f"volume {name}: waiting for the kernel to let go of {path}",
            place.clock,
            place.heartbeat,
            0.05,
        )
        if not free:
            left = (
                ", ".join(each.words for each in scan(place.roots.proc, number, copies=True))
                or "no process seen"
            )
            remedy = "end the container or loop device that holds it, or end the node"
            raise StorageError(name, f"{path} in nobody's use", f"busy; held by {left}", remedy)
    steps.append(Step("alone", place.clock.now() - began, f"{path} is in nobody's use"))


def _detach(volume: LiveVolume, aws: VolumeAws, place: Place, steps: list[Step]) -> None:
    """Detach and wait until others can have it. Raises StorageError after the deadline."""
    asked = False

    def gone() -> bool | None:
        nonlocal asked
        try:
            now = [each for each in aws.site_volumes([volume.name]) if each.id == volume.id]
            if not now or now[0].holder != place.instance:
                return True
            if not asked and now[0].holding != "detaching":
                aws.detach_volume(volume.id)
                asked = True
        except AwsError as error:
            code, message = refusal(error)
            if judge_refusal(code, message) != "look-again":
                raise StorageError(
                    volume.name, "DetachVolume to be allowed", f"{code}: {message}", "end the node"
                ) from error
        return None

    limit = place.waits.detach_s
    says = f"volume {volume.name}: waiting for {volume.id} to be free"
    free, seconds = wait_for(gone, limit, says, place.clock, place.heartbeat, min(1.0, place.waits.poll_s))
    if not free:
        remedy = "end the node: EC2 lets go of its volumes then"
        raise StorageError(volume.name, f"{volume.id} free within {limit:g} s", "still detaching", remedy)
    steps.append(Step("detach", seconds, f"{volume.id} is free"))

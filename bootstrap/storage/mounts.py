"""The mount table, and mounting. A filesystem is checked the way it wants, then mounted by device."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from bootstrap.storage.devices import Device, held_elsewhere
from bootstrap.storage.outcome import Step, StorageError
from bootstrap.storage.place import Place

OPTIONS = {"xfs": "rw,noatime,nodev,nosuid", "ext4": "rw,noatime,nodev,nosuid,errors=remount-ro"}


@dataclass(frozen=True)
class Mount:
    """A line of mountinfo: `number` MAJOR:MINOR, `root` within the filesystem, `point` where it's mounted."""

    number: str
    root: str
    point: str
    options: str
    kind: str


def parse_mounts(text: str) -> tuple[Mount, ...]:
    """All whole lines of a mountinfo (proc(5)); octal escapes resolved."""
    found = []
    for line in text.splitlines():
        left, dash, right = line.partition(" - ")
        fields, tail = left.split(" "), right.split(" ")
        if dash and len(fields) >= 6:
            found.append(Mount(fields[2], _plain(fields[3]), _plain(fields[4]), fields[5], tail[0]))
    return tuple(found)


def _plain(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), text)


def read_mounts(proc: Path) -> tuple[Mount, ...]:
    """This process's own mounts."""
    return parse_mounts((proc / "self" / "mountinfo").read_text(encoding="utf-8", errors="surrogateescape"))


def standing(mounts: tuple[Mount, ...], number: str, point: str) -> bool:
    """Whether the device is what one sees at `point`. Raises ValueError when something else hides it."""
    there = [each for each in mounts if each.point == point]
    if not there:
        return False
    if there[-1].number != number or there[-1].root != "/":
        raise ValueError(f"{there[-1].kind} {there[-1].number} is mounted at {point}")
    return True


def mount_point(name: str, place: Place) -> str:
    """Where the volume is mounted."""
    return str(place.roots.data / name)


def is_mounted(name: str, device: Device, place: Place) -> bool:
    """Whether an earlier run mounted it. Raises StorageError when its place is taken."""
    point = mount_point(name, place)
    try:
        return standing(read_mounts(place.roots.proc), device.number, point)
    except ValueError as error:
        raise StorageError(
            name, f"{point} free", str(error), f"`umount {point}`, then restart the agent"
        ) from None


def check(name: str, filesystem: str, device: Device, place: Place) -> Step:
    """ext4 replays its journal and repairs what is safe; xfs does that at mount, and its fsck does nothing.

    Nothing that would throw data away runs. Raises StorageError.
    """
    if held_elsewhere(device.path):
        remedy = "a container may hold a copy of the mount: end it, or reboot the node"
        raise StorageError(
            name,
            f"{device.path} in nobody's use",
            "in use: another mount point or namespace, or a loop device",
            remedy,
        )
    if filesystem == "xfs":
        return Step("check", 0.0, "xfs checks at mount")
    ran = place.run(["fsck.ext4", "-p", device.path], place.waits.check_s)
    if ran.code not in (0, 1):
        remedy = f"take a snapshot, then `fsck.ext4 -f {device.path}` by hand"
        raise StorageError(name, "a clean ext4, or one that repairs itself", ran.words, remedy)
    return Step("check", ran.seconds, "repaired" if ran.code else "clean")


def mount(name: str, filesystem: str, device: Device, place: Place) -> Step:
    """Mount it. Raises StorageError; a damaged xfs is described by xfs_repair -n, which changes nothing."""
    point = mount_point(name, place)
    Path(point).mkdir(mode=0o755, parents=True, exist_ok=True)
    command = ["mount", "-t", filesystem, "-o", OPTIONS[filesystem], device.path, point]
    ran = place.run(command, place.waits.mount_s)
    if ran.code != 0:
        found = ran.words
        if filesystem == "xfs":
            found += (
                "; xfs_repair -n: " + place.run(["xfs_repair", "-n", device.path], place.waits.check_s).words
            )
        raise StorageError(name, f"mounted at {point}", found, "take a snapshot before any repair by hand")
    if not is_mounted(name, device, place):
        raise StorageError(name, f"{device.path} at {point}", "not in the mount table", "reboot the node")
    return Step("mount", ran.seconds, f"{point} ({OPTIONS[filesystem]})")

"""Grows a filesystem whose volume grew. One that can't be grown stays usable as it is, and that is said."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bootstrap.commands import Ran
from bootstrap.storage.devices import Device
from bootstrap.storage.mounts import mount, mount_point
from bootstrap.storage.outcome import Step
from bootstrap.storage.place import Place
from bootstrap.storage.superblock import Span, growth, read_span


@dataclass(frozen=True)
class Grown:
    """What came of it; `step` is None when there was nothing to grow."""

    done: bool
    step: Step | None


def parse_xfs_size(text: str) -> Span | None:
    """The data section in what xfs_growfs -n prints (xfs_info(8))."""
    found = re.search(r"^data\s+=\s*bsize=(\d+)\s+blocks=(\d+)", text, re.MULTILINE)
    return Span(int(found[1]), int(found[2])) if found else None


def _mounted_span(filesystem: str, device: Device, point: str, place: Place) -> Span | None:
    """A mounted xfs keeps its superblock to itself for a while; ext4's is what the device shows."""
    if filesystem == "ext4":
        return read_span(device.path, filesystem)
    return parse_xfs_size(place.run(["xfs_growfs", "-n", point], place.waits.probe_s).out)


def grow(name: str, filesystem: str, device: Device, place: Place, *, unused: bool) -> Grown:
    """Grow a mounted filesystem. An ext4 that the kernel won't grow while mounted is grown unmounted if it's
    still `unused`. Raises StorageError when it can't be mounted again, OSError."""
    point = mount_point(name, place)
    now = _mounted_span(filesystem, device, point, place)
    target = growth(now, device.size)
    if now is None or target is None:
        return Grown(False, None)
    began = place.clock.now()
    ran = place.run(_command(filesystem, device, target, point), place.waits.grow_s)
    if ran.code != 0 and filesystem == "ext4" and unused:
        ran = _grow_unmounted(name, device, target, place)
    says = f"from {now.size} to {target.size} bytes"
    if ran.code != 0:
        says = f"not grown {says}, usable as it is: {ran.words}"
    return Grown(ran.code == 0, Step("grow", place.clock.now() - began, says))


def _grow_unmounted(name: str, device: Device, target: Span, place: Place) -> Ran:
    """resize2fs wants a full check before (resize2fs(8))."""
    ran = place.run(["umount", mount_point(name, place)], place.waits.umount_s)
    if ran.code != 0:
        return ran
    checked = place.run(["fsck.ext4", "-f", "-p", device.path], place.waits.check_s)
    ran = checked
    if checked.code in (0, 1):
        ran = place.run(["resize2fs", device.path, str(target.blocks)], place.waits.grow_s)
    mount(name, "ext4", device, place)
    return ran


def _command(filesystem: str, device: Device, target: Span, point: str) -> list[str]:
    if filesystem == "ext4":
        return ["resize2fs", device.path, str(target.blocks)]
    return ["xfs_growfs", "-D", str(target.blocks), point]

"""Makes a filesystem on a blank volume, so that a node that dies half way leaves something known as ours.

mark -> mkfs -> flush -> look -> unmark. A volume is mounted only unmarked, so a marked one never held data:
it is wiped back to blank where it was read as not blank, and examined again.
"""

from __future__ import annotations

import os
import uuid

from bootstrap.storage.devices import Device, held_elsewhere
from bootstrap.storage.examine import (
    MARK_SIZE,
    REMEDIES,
    RESERVE,
    Mark,
    Verdict,
    examine,
    mark_bytes,
    mark_offset,
    may_format,
)
from bootstrap.storage.observe import EDGE, PROBE, observe, pairs, probe_offsets
from bootstrap.storage.outcome import Step, StorageError
from bootstrap.storage.place import Place

_LABEL_CHARS = 12
"""Longest label of xfs (mkfs.xfs(8)); ext4 takes 16."""


def mkfs_command(path: str, filesystem: str, size: int, name: str, identity: str) -> list[str]:
    """mkfs without any force: mkfs.xfs itself refuses a device with a signature. The reserve stays free.

    No discard: EBS has none, and the volume is blank.
    """
    usable = size - RESERVE
    label = name[:_LABEL_CHARS]
    if filesystem == "xfs":
        return ["mkfs.xfs", "-q", "-K", "-L", label, "-m", f"uuid={identity}", "-d", f"size={usable}", path]
    extended = "nodiscard,lazy_itable_init=1"
    options = ["-q", "-b", "4096", "-m", "1", "-L", label, "-U", identity, "-E", extended]
    return ["mkfs.ext4", *options, path, f"{usable // 1024}k"]


def look_and_make(
    name: str, filesystem: str, blank: bool, device: Device, expected: int, place: Place
) -> tuple[Verdict, bool, tuple[Step, ...]]:
    """Examine the device; format it if it is blank and declared so. Raises StorageError for anything else
    than the filesystem that was declared. Gives what it was, whether it was formatted, and the steps."""
    steps: list[Step] = []
    verdict = _examined(filesystem, device, expected, place, steps)
    was = verdict
    if verdict.kind == "unfinished" and blank:
        steps.append(_wipe(name, device, place))
        verdict = _examined(filesystem, device, expected, place, steps)
    if verdict.kind == "formatted":
        return was, False, tuple(steps)
    if not may_format(verdict, blank):
        raise StorageError(
            name, _wanted(filesystem, blank), f"{verdict.kind}: {verdict.says}", REMEDIES[verdict.kind]
        )
    steps.append(_make(name, filesystem, device, place))
    return was, True, tuple(steps)


def _wanted(filesystem: str, blank: bool) -> str:
    return f"{filesystem} or a blank device" if blank else f"{filesystem}; it wasn't made blank by us"


def _examined(filesystem: str, device: Device, expected: int, place: Place, steps: list[Step]) -> Verdict:
    began = place.clock.now()
    verdict = examine(observe(device, expected, place), filesystem, device.serial)
    steps.append(Step("examine", place.clock.now() - began, f"{verdict.kind}: {verdict.says}"))
    return verdict


def _alone(name: str, device: Device) -> None:
    if held_elsewhere(device.path):
        raise StorageError(
            name,
            f"{device.path} in nobody's use",
            "in use: another mount point or namespace, or a loop device",
            "reboot the node",
        )


def _make(name: str, filesystem: str, device: Device, place: Place) -> Step:
    began = place.clock.now()
    _alone(name, device)
    identity = str(uuid.uuid4())
    write(device, {mark_offset(device.size): mark_bytes(Mark(device.serial, filesystem, identity))})
    command = mkfs_command(device.path, filesystem, device.size, name, identity)
    ran = place.run(command, place.waits.format_s)
    if ran.code != 0:
        raise StorageError(
            name, f"{command[0]} to end well", ran.words, "the next boot wipes it and tries again"
        )
    write(device, {})
    _check(name, filesystem, identity, device, place)
    write(device, {mark_offset(device.size): bytes(MARK_SIZE)})
    return Step("format", place.clock.now() - began, f"{filesystem} {identity}")


def _check(name: str, filesystem: str, identity: str, device: Device, place: Place) -> None:
    ran = place.run(["blkid", "-p", "-o", "export", device.path], place.waits.probe_s)
    told = pairs(ran.out)
    if (told.get("TYPE"), told.get("UUID")) != (filesystem, identity):
        raise StorageError(
            name, f"{filesystem} {identity} after mkfs", ran.out or ran.words, "the next boot tries again"
        )


def _wipe(name: str, device: Device, place: Place) -> Step:
    """Zeros where `observe` looks, the mark last of all, so that a wipe cut short is still marked."""
    began = place.clock.now()
    _alone(name, device)
    mark, tail = mark_offset(device.size), device.size - EDGE
    zeros = {0: bytes(EDGE), **{each: bytes(PROBE) for each in probe_offsets(device.size)}}
    behind = mark + MARK_SIZE
    write(device, {**zeros, tail: bytes(mark - tail), behind: bytes(device.size - behind)})
    write(device, {mark_offset(device.size): bytes(MARK_SIZE)})
    return Step("wipe", place.clock.now() - began, "what a mkfs of ours that was cut short had left")


def write(device: Device, blocks: dict[int, bytes]) -> None:
    """Write the blocks and make the whole device durable. Raises OSError."""
    handle = os.open(device.path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        for offset, data in blocks.items():
            done = 0
            while done < len(data):
                done += os.pwrite(handle, data[done:], offset + done)
        os.fsync(handle)
    finally:
        os.close(handle)

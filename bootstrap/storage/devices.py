"""Finds the block device of a volume by its serial number; refuses what isn't an EBS volume of ours.

The kernel's names say nothing: /dev/sdf becomes /dev/nvmeXn1 in any order, between instance store disks.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from bootstrap.storage.outcome import Step, StorageError
from bootstrap.storage.place import Place, Roots
from bootstrap.storage.waiting import wait_for

EBS_MODEL = "Amazon Elastic Block Store"
INSTANCE_STORE_MODEL = "Amazon EC2 NVMe Instance Storage"
"""Model strings of the two kinds of NVMe disks on Nitro (EBS User Guide, NVMe)."""
LINK_PREFIX = "nvme-Amazon_Elastic_Block_Store_"
LINK_SUFFIXES = ("", "_1", "-ns-1")
"""What udev rules of different images put behind the serial for the whole device."""


@dataclass(frozen=True)
class Seen:
    """One block device as sysfs shows it. `number` is MAJOR:MINOR; empty texts where there's no file."""

    name: str
    serial: str
    model: str
    number: str


@dataclass(frozen=True)
class Device:
    """A volume's device, proven by serial and model; `number` is what mount tables call it."""

    path: str
    number: str
    serial: str
    size: int


def same_serial(told: str, wanted: str) -> bool:
    """Serials come padded with spaces, and some kernels show the dash of the volume id."""
    return bool(told.strip()) and told.strip().replace("-", "").lower() == wanted.replace("-", "").lower()


def choose(seen: list[Seen], linked: str | None, serial: str) -> tuple[Seen | None, str]:
    """The device with this serial, and why none may be used. `linked` is the name that udev's link gives.

    Nothing found yet is (None, ""): worth waiting for. A contradiction is final.
    """
    named = [each for each in seen if same_serial(each.serial, serial)]
    if len(named) > 1:
        return None, f"{', '.join(each.name for each in named)} all say serial {serial}"
    by_link = next((each for each in seen if each.name == linked), None)
    if by_link is not None and not same_serial(by_link.serial, serial):
        return None, f"the link of {serial} leads to {by_link.name}, whose serial is {_shown(by_link.serial)}"
    if not named:
        return None, ""
    if named[0].model.strip() != EBS_MODEL:
        return None, f"{named[0].name} is a {_shown(named[0].model)}, not an {EBS_MODEL}"
    return named[0], ""


def _shown(text: str) -> str:
    return f'"{text.strip()}"' if text.strip() else "not told"


def look(roots: Roots) -> list[Seen]:
    """All block devices of the machine."""
    folders = sorted((roots.sys / "block").glob("*"))
    return [
        Seen(
            folder.name,
            _first(folder / "device" / "serial", folder / "serial"),
            _first(folder / "device" / "model", folder / "model"),
            _first(folder / "dev").strip(),
        )
        for folder in folders
    ]


def _first(*files: Path) -> str:
    for file in files:
        try:
            if text := file.read_text(encoding="utf-8", errors="replace"):
                return text
        except OSError:
            continue
    return ""


def linked_name(roots: Roots, serial: str) -> str | None:
    """The device that a by-id link of this serial leads to."""
    for suffix in LINK_SUFFIXES:
        link = roots.dev / "disk" / "by-id" / f"{LINK_PREFIX}{serial}{suffix}"
        if link.is_symlink():
            return link.readlink().name
    return None


def find(volume: str, serial: str, place: Place) -> tuple[Device, Step]:
    """The volume's device. Waits for it, since "attached" comes before the device does.

    Raises StorageError when the time is over, or at once when what's there isn't ours.
    """
    limit = place.waits.device_s
    found, seconds = wait_for(
        lambda: _attempt(volume, serial, place.roots),
        limit,
        f"volume {volume}: waiting for a device with serial {serial}",
        place.clock,
        place.heartbeat,
        place.waits.device_poll_s,
    )
    if found is None:
        raise StorageError(
            volume,
            f"a device with serial {serial} within {limit:g} s",
            "only "
            + (", ".join(f"{each.name} {_shown(each.serial)}" for each in look(place.roots)) or "none"),
            "reboot the node; instance types without NVMe (Xen) can't tell volumes apart and aren't served",
        )
    return found, Step("find", seconds, f"{found.path} has serial {serial}")


def _attempt(volume: str, serial: str, roots: Roots) -> Device | None:
    seen, problem = choose(look(roots), linked_name(roots, serial), serial)
    if problem:
        raise StorageError(
            volume, f"one EBS device with serial {serial}", problem, "nothing was touched; reboot"
        )
    return None if seen is None else _opened(seen, serial, roots)


def _opened(seen: Seen, serial: str, roots: Roots) -> Device | None:
    """The device node, when it's there and is the very device that sysfs speaks of."""
    path = roots.dev / seen.name
    try:
        told = path.stat()
        if not stat.S_ISBLK(told.st_mode) or _number(told.st_rdev) != seen.number:
            return None
        size = size_of(str(path))
    except OSError:
        return None
    return Device(str(path), seen.number, serial, size)


def size_of(path: str) -> int:
    """Bytes of a block device, as the kernel has them now."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.lseek(handle, 0, os.SEEK_END)
    finally:
        os.close(handle)


def _number(device: int) -> str:
    return f"{os.major(device)}:{os.minor(device)}"


def held_elsewhere(path: str) -> bool:
    """Whether the kernel has the device in use: mounted in whatever namespace, or opened for itself alone.

    Raises OSError for everything else than "busy".
    """
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        if error.errno == errno.EBUSY:
            return True
        raise
    return False

"""A node's own /dev, /sys and /data: real loop devices under the names that Nitro gives EBS volumes."""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import stat
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from bootstrap.storage.devices import EBS_MODEL, LINK_PREFIX
from bootstrap.storage.mounts import read_mounts
from bootstrap.storage.place import Place, Roots, Waits
from bootstrap.storage.release import mounts_of

GIB = 1 << 30
_CHUNK = 4096
TOOLS = ("losetup", "mkfs.xfs", "mkfs.ext4", "xfs_growfs", "resize2fs", "blkid", "sfdisk", "xfs_io")
SHORT = Waits(
    claim_s=20, attach_s=5, device_s=2, term_s=0.5, kill_s=3, detach_s=10, poll_s=0.05, device_poll_s=0.02
)


def reason_to_skip() -> str | None:
    """Why real block devices can't be had here."""
    if os.geteuid() != 0:
        return "needs root: loop devices, mkfs and mount"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return f"needs {', '.join(missing)}: install xfsprogs, e2fsprogs and util-linux"
    return None if Path("/dev/loop-control").exists() else "needs /dev/loop-control"


def sh(*command: str) -> str:
    """Run a command that must succeed; its output."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@dataclass
class Disk:
    """A volume's data: a sparse file behind a loop device of its own, which outlives attachments."""

    id: str
    file: Path
    loop: str = ""

    @classmethod
    def make(cls, folder: Path, volume_id: str, size: int = GIB) -> Disk:
        """A blank disk."""
        file = folder / f"{volume_id}.disk"
        with file.open("wb") as opened:
            opened.truncate(size)
        disk = cls(volume_id, file)
        disk.open()
        return disk

    def open(self) -> None:
        """Give it a loop device."""
        self.loop = sh("losetup", "--find", "--show", str(self.file))

    def close(self) -> None:
        """Take the loop device away."""
        subprocess.run(["losetup", "-d", self.loop], check=False, capture_output=True)

    def grow(self, size: int) -> None:
        """As a modified EBS volume: larger under the running system."""
        os.truncate(self.file, size)
        sh("losetup", "-c", self.loop)

    @property
    def serial(self) -> str:
        """As the device shows it."""
        return self.id.replace("-", "")

    @property
    def number(self) -> str:
        """MAJOR:MINOR."""
        told = Path(self.loop).stat().st_rdev
        return f"{os.major(told)}:{os.minor(told)}"

    def write(self, offset: int, data: bytes) -> None:
        """Put bytes on it, durably."""
        handle = os.open(self.loop, os.O_WRONLY)
        os.pwrite(handle, data, offset)
        os.fsync(handle)
        os.close(handle)

    def content(self) -> str:
        """A digest of every byte that was ever written: equal before and after means untouched."""
        digest, at = hashlib.sha256(), 0
        with self.file.open("rb") as opened:
            while True:
                try:
                    at = os.lseek(opened.fileno(), at, os.SEEK_DATA)
                except OSError:
                    return digest.hexdigest()
                opened.seek(at)
                for _ in range(at, os.lseek(opened.fileno(), at, os.SEEK_HOLE), _CHUNK):
                    opened.seek(at)
                    data = opened.read(_CHUNK)
                    if data.count(0) != len(data):
                        digest.update(at.to_bytes(8, "big") + data)
                    at += len(data)


@dataclass
class Machine:
    """One node: `plug` makes a disk appear as an NVMe device, `unplug` takes it away."""

    folder: Path
    instance: str = "i-0node"
    zone: str = "us-east-1a"
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _plugged: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for part in ("dev/disk/by-id", "sys/block", "data"):
            (self.folder / part).mkdir(parents=True)

    @property
    def roots(self) -> Roots:
        """For the node's code."""
        return Roots(self.folder / "dev", self.folder / "sys", Path("/proc"), self.folder / "data")

    def place(self, waits: Waits = SHORT) -> Place:
        """This node, as the node's code is told."""
        return Place(self.instance, self.zone, self.roots, waits)

    def path(self, name: str) -> Path:
        """Where the volume of this name is mounted."""
        return self.folder / "data" / name

    def plug(
        self, disk: Disk, *, serial: str | None = None, model: str = EBS_MODEL, link: bool = True
    ) -> str:
        """The device appears: node, sysfs entries, udev's link. Serial and model padded as NVMe pads them."""
        name = f"nvme{next(self._numbers)}n1"
        block = self.folder / "sys" / "block" / name
        (block / "device").mkdir(parents=True)
        (block / "dev").write_text(disk.number + "\n")
        (block / "device" / "serial").write_text(f"{serial or disk.serial:<20}\n")
        (block / "device" / "model").write_text(f"{model:<40}\n")
        node = self.folder / "dev" / name
        os.mknod(node, stat.S_IFBLK | 0o600, Path(disk.loop).stat().st_rdev)
        if link:
            by_id = self.folder / "dev" / "disk" / "by-id" / f"{LINK_PREFIX}{disk.serial}"
            by_id.symlink_to(f"../../{name}")
        self._plugged[disk.id] = name
        return name

    def plug_later(self, disk: Disk, seconds: float) -> threading.Thread:
        """The device appears after "attached" was said, as it does on EC2."""
        thread = threading.Thread(target=lambda: (time.sleep(seconds), self.plug(disk)))
        thread.start()
        return thread

    def unplug(self, disk: Disk) -> None:
        """The device is gone. One that's mounted must not be: that would be our mistake."""
        name = self._plugged.pop(disk.id, None)
        if name is None:
            return
        assert not mounts_of(read_mounts(Path("/proc")), disk.number), f"{name} detached while mounted"
        shutil.rmtree(self.folder / "sys" / "block" / name)
        (self.folder / "dev" / name).unlink()
        (self.folder / "dev" / "disk" / "by-id" / f"{LINK_PREFIX}{disk.serial}").unlink(missing_ok=True)

    def close(self) -> None:
        """Unmount whatever a test left."""
        mounts = [
            each.point for each in read_mounts(Path("/proc")) if each.point.startswith(f"{self.folder}/")
        ]
        for point in reversed(mounts):
            subprocess.run(["umount", "-l", point], check=False, capture_output=True)

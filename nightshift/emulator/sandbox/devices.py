"""EBS volumes as real block devices: a disk behind a loop device, and slots where it shows as NVMe does."""

from __future__ import annotations

import errno
import hashlib
import itertools
import os
import shutil
import stat
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

GIB = 1 << 30
MODEL = "Amazon Elastic Block Store"
LINK = "nvme-Amazon_Elastic_Block_Store_"
"""What udev's link in /dev/disk/by-id begins with; the serial follows."""
_CHUNK = 4096


class InUse(RuntimeError):
    """A device was taken away from under a mounted filesystem."""


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
    def size(self) -> int:
        """Bytes."""
        return self.file.stat().st_size

    @property
    def serial(self) -> str:
        """As the device shows it."""
        return self.id.replace("-", "")

    @property
    def number(self) -> str:
        """MAJOR:MINOR."""
        told = Path(self.loop).stat().st_rdev
        return f"{os.major(told)}:{os.minor(told)}"

    @property
    def in_use(self) -> bool:
        """Whether it's mounted, in whatever namespace."""
        try:
            os.close(os.open(self.loop, os.O_RDONLY | os.O_EXCL))
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            return True
        return False

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
class Slots:
    """A node's /dev and /sys/block below `folder`: `plug` makes a disk appear, `unplug` takes it away."""

    folder: Path
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _plugged: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for part in ("dev/disk/by-id", "sys/block"):
            (self.folder / part).mkdir(parents=True)

    @property
    def plugged(self) -> dict[str, str]:
        """Device names by volume id."""
        return dict(self._plugged)

    def plug(self, disk: Disk, *, serial: str | None = None, model: str = MODEL, link: bool = True) -> str:
        """The device appears: node, sysfs entries, udev's link. Serial and model padded as NVMe pads them."""
        name = f"nvme{next(self._numbers)}n1"
        block = self.folder / "sys" / "block" / name
        (block / "device").mkdir(parents=True)
        (block / "dev").write_text(disk.number + "\n")
        (block / "device" / "serial").write_text(f"{serial or disk.serial:<20}\n")
        (block / "device" / "model").write_text(f"{model:<40}\n")
        os.mknod(self.folder / "dev" / name, stat.S_IFBLK | 0o600, Path(disk.loop).stat().st_rdev)
        if link:
            self._link(disk).symlink_to(f"../../{name}")
        self._plugged[disk.id] = name
        return name

    def unplug(self, disk: Disk) -> None:
        """The device is gone. Raises InUse when it's mounted: nothing is taken away then."""
        name = self._plugged.get(disk.id)
        if name is None:
            return
        if disk.in_use:
            raise InUse(f"{name} ({disk.id}) detached while mounted")
        del self._plugged[disk.id]
        shutil.rmtree(self.folder / "sys" / "block" / name)
        (self.folder / "dev" / name).unlink()
        self._link(disk).unlink(missing_ok=True)

    def _link(self, disk: Disk) -> Path:
        return self.folder / "dev" / "disk" / "by-id" / f"{LINK}{disk.serial}"

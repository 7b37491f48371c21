"""A node's own /dev, /sys and /data, as the node's code is told of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

from bootstrap.storage.mounts import read_mounts
from bootstrap.storage.place import Place, Roots, Waits
from nightshift.emulator.sandbox.devices import Disk, Slots

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
        return f"needs {', '.join(missing)}: install xfsprogs, e2fsprogs, fdisk and util-linux"
    return None if Path("/dev/loop-control").exists() else "needs /dev/loop-control"


class Machine(Slots):
    """One node, without namespaces of its own."""

    def __init__(self, folder: Path, instance: str = "i-0node", zone: str = "us-east-1a") -> None:
        super().__init__(folder)
        self.instance, self.zone = instance, zone
        (folder / "data").mkdir()

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

    def plug_later(self, disk: Disk, seconds: float) -> threading.Thread:
        """The device appears after "attached" was said, as it does on EC2."""
        thread = threading.Thread(target=lambda: (time.sleep(seconds), self.plug(disk)))
        thread.start()
        return thread

    def close(self) -> None:
        """Unmount whatever a test left."""
        mounts = [
            each.point for each in read_mounts(Path("/proc")) if each.point.startswith(f"{self.folder}/")
        ]
        for point in reversed(mounts):
            subprocess.run(["umount", "-l", point], check=False, capture_output=True)

"""One node with its disks and an EC2 that attaches them: what most tests of storage need."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from bootstrap.manifest import BootManifest, BootVolume
from bootstrap.storage.attach import attach_all, release_all
from bootstrap.storage.outcome import AttachReport, ReleaseReport
from bootstrap.storage.place import Place, Waits
from nightshift.emulator.sandbox.devices import GIB, Disk
from tests.bootstrap.storage.support.fake_aws import FakeAws, Site, available
from tests.bootstrap.storage.support.machine import SHORT, Machine
from tests.bootstrap.support.samples import MANIFEST

MEMORY = Path("/dev/shm")
"""Where disks lie: sparse, and untouched by whatever else keeps this machine's disk busy."""
Filesystem = Literal["xfs", "ext4"]


def wish(
    name: str, filesystem: Filesystem = "xfs", blank: bool = True, per: Literal["site", "node"] = "site"
) -> BootVolume:
    """A volume of the manifest, 1 GiB."""
    return BootVolume(name, 1, filesystem, per, blank)


def manifest(*volumes: BootVolume) -> BootManifest:
    """A group's manifest with these volumes."""
    return replace(MANIFEST, volumes=volumes)


@dataclass
class Bench:
    """`attach` and `release` are the node's; `disk` is the one volume called `runs`."""

    folder: Path
    machine: Machine
    disk: Disk
    site: Site
    disks: dict[str, Disk] = field(default_factory=dict)
    plug: bool = True

    @property
    def path(self) -> Path:
        """Where `runs` is mounted."""
        return self.machine.path("runs")

    @property
    def aws(self) -> FakeAws:
        """The node's EC2."""

        def attached(volume: str) -> None:
            if self.plug:
                self.machine.plug(self.disks[volume])

        return FakeAws(
            self.site, self.machine.instance, attached, lambda each: self.machine.unplug(self.disks[each])
        )

    def place(self, waits: Waits = SHORT) -> Place:
        """The node."""
        return self.machine.place(waits)

    def attach(
        self, filesystem: Filesystem = "xfs", *, blank: bool = True, place: Place | None = None
    ) -> AttachReport:
        """As a booting node does."""
        return attach_all(manifest(wish("runs", filesystem, blank)), self.aws, place or self.place())

    def release(self, place: Place | None = None) -> ReleaseReport:
        """As a draining node does."""
        return release_all((wish("runs"),), self.aws, place or self.place())


def scratch(where: Path | None = None) -> Path:
    """A new folder, below `where` if there is such a place."""
    there = where if where is not None and where.is_dir() else None
    return Path(tempfile.mkdtemp(prefix="nightshift-storage-", dir=there))


@contextmanager
def bench(size: int = GIB, where: Path | None = None) -> Generator[Bench]:
    """A node with one blank volume `runs` that isn't attached yet; everything is taken down at the end."""
    folder, store = scratch(), where or scratch(MEMORY)
    machine = Machine(folder / "node")
    disk = Disk.make(store, "vol-0abc", size)
    made = Bench(
        folder, machine, disk, Site.of(available("runs", disk.id, size_gib=size // GIB)), {disk.id: disk}
    )
    try:
        yield made
    finally:
        machine.close()
        for each in made.disks.values():
            each.close()
        shutil.rmtree(folder, ignore_errors=True)
        disk.file.unlink(missing_ok=True)
        if where is None:
            shutil.rmtree(store)

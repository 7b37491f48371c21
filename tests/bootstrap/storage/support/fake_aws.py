"""EC2's volumes in memory, with AttachVolume as the lock; disks appear and go as they are attached."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from botocore.exceptions import ClientError

from bootstrap.storage.order import LiveVolume


def refused(code: str, message: str = "") -> ClientError:
    """As botocore raises it."""
    return ClientError({"Error": {"Code": code, "Message": message}}, "Call")


@dataclass
class Site:
    """All volumes by id. `events` has (what, volume id, instance id) in order."""

    volumes: dict[str, LiveVolume]
    events: list[tuple[str, str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, *volumes: LiveVolume) -> Site:
        """With these."""
        return cls({each.id: each for each in volumes})


def available(name: str, volume_id: str, index: int | None = None, size_gib: int = 1) -> LiveVolume:
    """A free volume of the test's zone."""
    return LiveVolume(volume_id, name, index, size_gib, "us-east-1a", "available")


@dataclass
class FakeAws:
    """The site as one node sees it. `refusals` are raised, one a call, before anything is done."""

    site: Site
    instance: str = "i-0node"
    attached: Callable[[str], object] = lambda _volume: None
    detached: Callable[[str], object] = lambda _volume: None
    refusals: list[Exception] = field(default_factory=list)

    def site_volumes(self, volumes: Sequence[str]) -> list[LiveVolume]:
        with self.site.lock:
            return [each for each in self.site.volumes.values() if each.name in volumes]

    def taken_devices(self) -> set[str]:
        return {"/dev/sda1"}

    def attach_volume(self, volume_id: str, device: str) -> None:
        if self.refusals:
            raise self.refusals.pop(0)
        with self.site.lock:
            volume = self.site.volumes[volume_id]
            if volume.state != "available":
                raise refused("VolumeInUse", f"{volume_id} is already attached to an instance")
            self._set(volume, "in-use", self.instance, "attached")
            self.site.events.append(("attach", volume_id, self.instance))
        self.attached(volume_id)

    def detach_volume(self, volume_id: str) -> None:
        self.detached(volume_id)
        with self.site.lock:
            volume = self.site.volumes[volume_id]
            if volume.holder != self.instance:
                raise refused("IncorrectState", f"{volume_id} is available")
            self.site.events.append(("detach", volume_id, self.instance))
            self._set(volume, "available", "", "")

    def _set(self, volume: LiveVolume, state: str, holder: str, holding: str) -> None:
        self.site.volumes[volume.id] = replace(volume, state=state, holder=holder, holding=holding)

"""What the emulated EC2 says of attachments, done to the nodes' devices."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from nightshift.emulator.sandbox.control import Refused, control
from nightshift.emulator.sandbox.devices import GIB, Disk, InUse
from nightshift.emulator.sandbox.node import Node

LOOK_S = 0.25
"""How often the attachments are looked at, beside at once after a node's own call."""


@dataclass
class Volumes:
    """Follows the emulated AWS at `endpoint`: every volume has one disk, kept for as long as this lives.

    A device appears `attach_s` after AttachVolume was answered, and goes `detach_s` after DetachVolume.
    `wrongs`: volumes that EC2 took from a node that still had them mounted. They stay with it until it lets
    go; a second node never gets one meanwhile.
    """

    endpoint: str
    folder: Path
    node: Callable[[str], Node | None]
    attach_s: float = 0.2
    detach_s: float = 0.1
    disks: dict[str, Disk] = field(default_factory=dict)
    wrongs: list[str] = field(default_factory=list)
    _at: dict[str, Node] = field(default_factory=dict)
    _since: dict[str, tuple[str | None, float]] = field(default_factory=dict)
    _wake: threading.Event = field(default_factory=threading.Event)
    _ended: bool = False
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Follow from now on."""
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """No more; the disks are gone."""
        self._ended = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        for disk in self.disks.values():
            disk.close()

    def hear(self, step: str) -> None:
        """A call went through: look at once if it concerns volumes."""
        if step in ("ec2.AttachVolume", "ec2.DetachVolume"):
            self._wake.set()

    def disk(self, volume_id: str, size_gib: int) -> Disk:
        """The volume's disk, made blank at the first call, grown when the volume grew."""
        if volume_id not in self.disks:
            self.folder.mkdir(exist_ok=True)
            self.disks[volume_id] = Disk.make(self.folder, volume_id, size_gib * GIB)
        disk = self.disks[volume_id]
        if disk.size < size_gib * GIB:
            disk.grow(size_gib * GIB)
        return disk

    def _follow(self) -> None:
        soon = LOOK_S
        while not self._ended:
            self._wake.wait(soon)
            self._wake.clear()
            try:
                soon = self.look()
            except (OSError, Refused):
                soon = LOOK_S

    def look(self) -> float:
        """One look at all volumes; seconds until the next is due. Raises OSError when AWS doesn't answer."""
        now = time.monotonic()
        rows = [row for row in control(self.endpoint, "volumes")["volumes"] if not row["root"]]
        due = [self._settle(row, now) for row in rows]
        return max(0.005, min([LOOK_S, *(each for each in due if each is not None)]))

    def _settle(self, row: dict[str, object], now: float) -> float | None:
        """Bring one device to where it belongs; seconds still to wait, None when it's there."""
        volume_id, wanted = str(row["id"]), row["instance_id"]
        holder = str(wanted) if wanted else None
        there = self._at.get(volume_id)
        if holder == (there.id if there else None):
            self._since[volume_id] = (holder, now)
            if there is not None:
                self.disk(volume_id, int(str(row["size_gib"])))
            return None
        if self._since.get(volume_id, (there, 0))[0] != holder:
            self._since[volume_id] = (holder, now)
        delay = self.detach_s if there else self.attach_s
        left = self._since[volume_id][1] + delay - now
        if left > 0:
            return left
        return self._move(volume_id, int(str(row["size_gib"])), there, holder)

    def _move(self, volume_id: str, size_gib: int, there: Node | None, holder: str | None) -> float | None:
        if there is not None:
            try:
                there.unplug(self.disks[volume_id])
            except InUse as error:
                told = f"{there.id}: {error}"
                if told not in self.wrongs:
                    self.wrongs.append(told)
                return LOOK_S
            del self._at[volume_id]
            return 0.005 if holder else None
        node = self.node(holder) if holder else None
        if node is not None:
            node.plug(self.disk(volume_id, size_gib))
            self._at[volume_id] = node
        return None

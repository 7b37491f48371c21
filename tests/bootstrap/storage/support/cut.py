"""mkfs cut short: the agent dies at a chosen moment of a format, or the node's power goes with its caches."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest.mock import patch

from bootstrap.commands import Ran, run
from bootstrap.storage import making
from bootstrap.storage.devices import Device
from bootstrap.storage.examine import MARK_SIZE, mark_offset, read_mark
from bootstrap.storage.outcome import AttachReport
from nightshift.emulator.sandbox.devices import Disk, sh
from tests.bootstrap.storage.support.bench import Bench, Filesystem


class Died(BaseException):
    """The agent is gone at once: nothing of it may catch this."""


@dataclass
class Witness:
    """Runs commands as the agent does, and sees for itself what lies on the device when mkfs begins.

    `overwrote` has every mkfs on a device that held bytes nobody marked. `die_after` seconds into mkfs it and
    the agent are killed.
    """

    disk: Disk
    die_after: float | None = None
    made: int = 0
    overwrote: list[str] = field(default_factory=list)
    ours: bool = False

    def __call__(self, command: list[str], limit_s: float) -> Ran:
        if not command[0].startswith("mkfs."):
            return run(command, limit_s)
        self.made += 1
        if not self.ours and self.foreign():
            self.overwrote.append(" ".join(command))
        self.ours = True
        return run(command, limit_s) if self.die_after is None else self._cut(command, self.die_after)

    def foreign(self) -> bool:
        """Whether there's any byte that isn't zero, our own mark aside. Reads every extent of the file."""
        size = self.disk.file.stat().st_size
        at = 0
        handle = os.open(self.disk.loop, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
        with self.disk.file.open("rb") as opened:
            while at < size:
                try:
                    at = os.lseek(opened.fileno(), at, os.SEEK_DATA)
                except OSError:
                    return False
                end = min(os.lseek(opened.fileno(), at, os.SEEK_HOLE), at + (1 << 20))
                opened.seek(at)
                data = opened.read(end - at)
                here = mark_offset(size) - at
                if 0 <= here < len(data) and read_mark(data[here : here + MARK_SIZE]):
                    data = data[:here] + data[here + MARK_SIZE :]
                if data.count(0) != len(data):
                    return True
                at = end
        return False

    def _cut(self, command: list[str], after: float) -> Ran:
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(after)
            process.send_signal(signal.SIGKILL)
        raise Died


def attach_until_death(
    node: Bench, filesystem: Filesystem, witness: Witness, *, at_write: int | None
) -> bool:
    """One boot that may die, in mkfs or before its n-th own write. Whether it did."""
    count = 0
    real = making.write

    def write(device: Device, blocks: dict[int, bytes]) -> None:
        nonlocal count
        count += 1
        if count == at_write:
            raise Died
        real(device, blocks)

    try:
        with patch.object(making, "write", write):
            node.attach(filesystem, place=replace(node.place(), run=witness))
    except Died:
        return True
    return False


def next_node(node: Bench, filesystem: Filesystem, witness: Witness, *, power: bool) -> AttachReport:
    """The node is gone, and so is what it hadn't flushed when `power` failed; another one boots."""
    node.machine.close()
    if power:
        frozen = node.disk.file.with_suffix(".frozen")
        sh("cp", "--sparse=always", "--reflink=auto", str(node.disk.file), str(frozen))
        swap(node, frozen)
    node.aws.detach_volume(node.disk.id)
    witness.die_after = None
    return node.attach(filesystem, place=replace(node.place(), run=witness))


def swap(node: Bench, frozen: Path) -> None:
    """The volume now holds what the copy holds."""
    node.machine.unplug(node.disk)
    node.disk.close()
    frozen.replace(node.disk.file)
    node.disk.open()
    node.machine.plug(node.disk)

"""A crash that drops what wasn't synced, and a writer that says what it has committed.

Ending processes is no crash: their pages still reach the disk. `shutdown` stops the filesystem at once,
its log unflushed (xfs_io does it to ext4 too); `frozen` goes on with a reflink copy of what had reached the
disk, as a snapshot has it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from nightshift.emulator.sandbox.devices import sh
from tests.bootstrap.storage.support.bench import MEMORY, Bench, Filesystem, scratch
from tests.bootstrap.storage.support.cut import swap

How = Literal["shutdown", "frozen"]
SIZE = 256 << 10
_CAREFUL = """
import hashlib, os, sys
folder, size, number, careful = sys.argv[1], int(sys.argv[2]), 0, sys.argv[3] == "careful"
while True:
    data = hashlib.sha256(str(number).encode()).digest() * (size // 32)
    with open(f"{folder}/tmp-{number}", "wb") as opened:
        opened.write(data)
        opened.flush()
        if careful:
            os.fsync(opened.fileno())
    os.rename(f"{folder}/tmp-{number}", f"{folder}/step-{number}")
    if careful:
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
    print(number, flush=True)
    number += 1
"""
"""tmp, fsync, rename, fsync of the folder, and only then the word: what a checkpoint does. The careless one
leaves out both fsync, to show that the crash is one."""


def crash(node: Bench, how: How, after: float, *, careful: bool = True) -> int:
    """Let the writer commit at least once and for `after` seconds, then crash: the last step reported.

    Only what was said before counts: the kernel lives on after `shutdown`, and xfs then answers fsync of a
    folder with success though its log is dead (seen on Linux 6.18; fsync of a file fails, as it should).
    """
    mode = "careful" if careful else "careless"
    command = [sys.executable, "-S", "-c", _CAREFUL, str(node.path), str(SIZE), mode]
    words = node.folder / "writer.log"
    with (
        words.open("wb") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, bufsize=0) as writer,
    ):
        assert writer.stdout is not None
        told = writer.stdout.read(64) or b""
        assert told, f"the writer ended before it committed anything: {words.read_text()}"
        time.sleep(after)
        os.set_blocking(writer.stdout.fileno(), False)
        told += writer.stdout.read(1 << 20) or b""
        if how == "shutdown":
            sh("xfs_io", "-x", "-c", "shutdown", str(node.path))
        else:
            sh("cp", "--reflink=always", str(node.disk.file), str(frozen(node)))
        writer.kill()
        writer.wait()
    return int(told.split(b"\n")[-2])


def frozen(node: Bench) -> Path:
    """The copy."""
    return node.disk.file.with_suffix(".frozen")


def boot_again(node: Bench, filesystem: Filesystem, how: How) -> None:
    """Another node has the volume; what the dead one's kernel still held never comes."""
    node.machine.close()
    if how == "frozen":
        swap(node, frozen(node))
    node.aws.detach_volume(node.disk.id)
    report = node.attach(filesystem)
    assert report.ready, report.problems
    assert not report.volumes[0].formatted


def lost(node: Bench, last: int) -> list[str]:
    """Every reported step that isn't there in full."""
    return [
        f"step-{number}" for number in range(last + 1) if not _whole(node.path / f"step-{number}", number)
    ]


def _whole(path: Path, number: int) -> bool:
    return path.exists() and path.read_bytes() == hashlib.sha256(str(number).encode()).digest() * (SIZE // 32)


def clear(node: Bench) -> None:
    """Room for the next round."""
    for each in node.path.glob("*-*"):
        each.unlink()


@contextmanager
def reflink_host() -> Generator[Path]:
    """A folder on an xfs that can copy a file at one instant."""
    folder = scratch(MEMORY)
    image, point = folder / "host.image", folder / "host"
    with image.open("wb") as opened:
        opened.truncate(4 << 30)
    sh("mkfs.xfs", "-q", "-m", "reflink=1", str(image))
    point.mkdir()
    sh("mount", "-o", "loop", str(image), str(point))
    try:
        yield point
    finally:
        sh("umount", str(point))
        shutil.rmtree(folder)

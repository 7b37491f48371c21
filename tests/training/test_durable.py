"""What a call has returned for is on the disk, or the call says no."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from nightshift.training import Checkpoints, TrainingState, files, folder
from nightshift.training.files import replace

SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2  # _IOR('X', 125, __u32) of <linux/fs.h>


def kinds_synced(monkeypatch: pytest.MonkeyPatch, fail_at: int | None = None) -> list[str]:
    """What is synced, in order: a file or a folder. One of them may fail."""
    seen: list[str] = []

    def synced(descriptor: int) -> None:
        seen.append("folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file")  # noqa: PTH112
        if len(seen) - 1 == fail_at:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", synced)
    return seen


def test_a_replaced_file_is_synced_after_its_folder_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = kinds_synced(monkeypatch)
    replace(tmp_path / "latest", b"x")
    assert seen == ["file", "folder", "file"]


def test_a_disk_that_dies_at_the_folders_sync_is_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds_synced(monkeypatch, fail_at=2)
    with pytest.raises(OSError, match="Input/output error"):
        replace(tmp_path / "latest", b"x")


@pytest.fixture
def xfs(tmp_path: Path) -> Iterator[Path]:
    """A filesystem of its own."""
    if os.geteuid() != 0 or shutil.which("mkfs.xfs") is None:
        pytest.skip("an xfs of its own needs root and xfsprogs")
    image, root = tmp_path / "xfs.img", tmp_path / "xfs"
    root.mkdir()
    with image.open("wb") as stream:
        stream.truncate(512 << 20)
    subprocess.run(["mkfs.xfs", "-q", str(image)], check=True)
    mounted = subprocess.run(["mount", "-o", "loop", str(image), str(root)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no loop device to mount: {mounted.stderr.decode().strip()}")
    yield root
    subprocess.run(["umount", str(root)], check=True)


def shut(root: Path) -> None:
    descriptor = os.open(root, os.O_RDONLY)
    try:
        fcntl.ioctl(descriptor, SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
    finally:
        os.close(descriptor)


@pytest.mark.node
@pytest.mark.parametrize("at", [1, 2], ids=["the checkpoint's name", "latest"])
def test_an_xfs_that_dies_before_a_folders_sync_takes_the_report_with_it(
    xfs: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    model = torch.nn.Linear(4, 4)
    state = TrainingState(model, [torch.optim.SGD(model.parameters(), lr=0.1)])
    root = xfs / "ck"
    checkpoints = Checkpoints(root)
    sync, calls = files.sync_folder, [0]

    def dying(path: Path) -> None:
        calls[0] += path == root
        if calls[0] == at:
            shut(xfs)
        sync(path)

    for module in (files, folder):
        monkeypatch.setattr(module, "sync_folder", dying)
    checkpoints.start(state, step=1, position=1)
    report = checkpoints.finish()
    checkpoints.close()
    assert calls[0] >= at, "the save came to that sync"
    assert report is not None
    assert report.error is not None
    assert "Input/output error" in report.error

"""A workspace's own folder: it goes with its process, and what a killed one left goes with the next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nightshift.emulator.engine.folders import OwnFolder, sweep
from nightshift.emulator.engine.provider import sockets_in
from nightshift.emulator.engine.trees import end_tree

HOLD = """
import time
from nightshift.emulator.engine.folders import OwnFolder
print(OwnFolder().path, flush=True)
time.sleep(60)
"""


def _age(folder: Path) -> None:
    long_ago = time.time() - 3_600
    os.utime(folder, (long_ago, long_ago))


def test_the_folder_of_a_killed_process_is_swept_and_a_living_ones_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with subprocess.Popen(
        [sys.executable, "-c", HOLD],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as other:
        assert other.stdout is not None
        folder = Path(other.stdout.readline().strip())
        (tmp_path / "nightshift-engine-of-another-kind").mkdir()
        for each in tmp_path.iterdir():
            _age(each)
        assert sweep(tmp_path) == []
        other.kill()
        other.wait()
    mine = OwnFolder()
    assert not folder.exists()
    assert sorted(tmp_path.iterdir()) == sorted([mine.path, tmp_path / "nightshift-engine-of-another-kind"])
    mine.close()
    mine.close()
    assert not mine.path.exists()


def test_a_folder_just_made_is_left_alone(tmp_path: Path) -> None:
    young = tmp_path / "nightshift-engine-young"
    young.mkdir()
    (young / "held").touch()
    assert sweep(tmp_path) == []
    _age(young)
    assert sweep(tmp_path) == [young]


def test_the_providers_socket_lies_in_the_folder_unless_its_path_grew_too_long() -> None:
    assert sockets_in(Path("/tmp/nightshift-engine-1")) == {
        "PLUGIN_UNIX_SOCKET_DIR": "/tmp/nightshift-engine-1"
    }
    assert sockets_in(Path(f"/{'a' * 89}")) != {}
    assert sockets_in(Path(f"/{'a' * 90}")) == {}


def test_a_process_is_ended_with_its_childrens_children() -> None:
    inner = (
        "import subprocess,sys,time; p=subprocess.Popen([sys.executable,'-c','import time;time.sleep(60)']);"
    )
    script = inner + "print(p.pid,flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        end_tree(process)
    assert process.returncode == -signal.SIGKILL
    until = time.monotonic() + 5
    while _alive(child) and time.monotonic() < until:
        time.sleep(0.02)
    assert not _alive(child)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False

"""Nothing that a launch starts outlives its cage."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bootstrap.launch.cage import Cage, CgroupCage, MarkedCage, cages, own_cgroup

pytestmark = pytest.mark.node
FAMILY = """
import os, subprocess, sys, time
subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
print("born", flush=True)
time.sleep(600)
"""
"""A child in a session of its own, and a daemon whose parent is gone."""


def start(cage: Cage) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        cage.command([sys.executable, "-S", "-c", FAMILY]),
        stdout=subprocess.PIPE,
        env={**os.environ, **cage.environment()},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"born\n"
    return process


def cgroups_or_skip(tmp_path: Path) -> None:
    root = own_cgroup()
    if root is None or not isinstance(cages(None, tmp_path).whole, CgroupCage):
        pytest.skip("needs a cgroup of version 2 that can be written")


def finish(process: subprocess.Popen[bytes]) -> None:
    process.wait(5)
    assert process.stdout is not None
    process.stdout.close()


def test_a_cgroup_takes_the_whole_family_and_is_gone(tmp_path: Path) -> None:
    cgroups_or_skip(tmp_path)
    made = cages(None, tmp_path)
    cage = made.new()
    process = start(cage)
    assert len(cage.pids()) >= 3
    assert cage.cpu_s() is not None
    began = time.monotonic()
    assert cage.kill(10) == []
    assert time.monotonic() - began < 2
    finish(process)
    assert isinstance(cage, CgroupCage)
    assert not cage.path.exists()
    assert made.whole.kill(5) == []


def test_the_next_agent_finds_and_ends_what_the_last_one_left(tmp_path: Path) -> None:
    cgroups_or_skip(tmp_path)
    process = start(cages(None, tmp_path).new())
    found = cages(None, tmp_path)
    assert len(found.whole.pids()) >= 3
    assert found.whole.kill(10) == []
    finish(process)


def test_without_cgroups_a_mark_finds_the_family_too(tmp_path: Path) -> None:
    made = cages(tmp_path / "no-cgroup", tmp_path)
    assert isinstance(made.whole, MarkedCage)
    first, second = made.new(), made.new()
    processes = [start(first), start(second)]
    assert len(first.pids()) >= 3
    assert first.kill(10) == []
    assert len(second.pids()) >= 3
    assert made.whole.kill(10) == []
    for process in processes:
        finish(process)


def test_a_launch_that_is_ended_before_it_entered_never_begins(tmp_path: Path) -> None:
    cgroups_or_skip(tmp_path)
    made = cages(None, tmp_path)
    cage = made.new()
    command = cage.command([sys.executable, "-S", "-c", FAMILY])
    assert cage.kill(5) == []
    done = subprocess.run(command, capture_output=True, timeout=20)
    assert done.returncode != 0
    assert done.stdout == b""
    made.whole.kill(5)

"""A rehearsal ended in its middle leaves nothing: at once after Ctrl-C, by the next run after SIGKILL."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nightshift.emulator.sandbox.place import MEMORY, PREFIX, group_root, sweep
from nightshift.rehearsal.real.able import reason_to_model
from tests.rehearsal.real.support.manifests import manifest

pytestmark = [pytest.mark.node, pytest.mark.xdist_group("storage")]
ROOT = Path(__file__).parents[3]


def loops(folder: Path) -> list[str]:
    told = subprocess.run(["losetup", "--list", "--noheadings", "--raw"], capture_output=True, text=True)
    return [line for line in told.stdout.splitlines() if str(folder) in line]


def members(session: int) -> list[int]:
    """Processes of a session, whatever namespaces they are in."""
    told = subprocess.run(["ps", "-s", str(session), "-o", "pid="], capture_output=True, text=True)
    return [int(word) for word in told.stdout.split()]


def soon(what: str, true: object, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    assert callable(true)
    while not true():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_it(tmp_path: Path, number: signal.Signals) -> None:
    if reason := reason_to_model(manifest()):
        pytest.skip(reason)
    words = [sys.executable, "-m", "tests.rehearsal.real.support.player", str(tmp_path)]
    player = subprocess.Popen(words, cwd=ROOT, start_new_session=True, stderr=subprocess.DEVNULL)

    def folder() -> Path | None:
        return next(MEMORY.glob(f"{PREFIX}{player.pid}-*"), None)

    try:
        soon("a volume of a node", lambda: (there := folder()) is not None and loops(there))
        there = folder()
        assert there is not None
        os.kill(player.pid, number)
        player.wait(60)
        if number == signal.SIGKILL:
            soon("its processes are gone", lambda: not members(player.pid), 30)
            sweep()
        assert not there.exists()
        assert loops(there) == []
        root = group_root()
        assert root is None or not (root / there.name).exists()
        soon("its processes are gone", lambda: not members(player.pid), 30)
    finally:
        player.kill()
        player.wait()

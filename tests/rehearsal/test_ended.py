"""A rehearsal that is ended from outside in the middle of its `up` leaves no process, and no folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from nightshift.rehearsal.ending import as_ctrl_c

ROOT = Path(__file__).parents[2]
CLI = (sys.executable, "-m", "nightshift.cli.main")


def _ended_by(number: signal.Signals, cleaned: list[bool]) -> None:
    with as_ctrl_c():
        try:
            os.kill(os.getpid(), number)
            time.sleep(5)
        finally:
            os.kill(os.getpid(), number)
            cleaned.append(True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_it_ends_as_by_ctrl_c_once_and_the_former_way_comes_back(
    number: signal.Signals, heeded: None
) -> None:
    before = signal.getsignal(number)
    cleaned: list[bool] = []
    with pytest.raises(KeyboardInterrupt):
        _ended_by(number, cleaned)
    assert cleaned == [True]
    assert signal.getsignal(number) is before


def test_what_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with as_ctrl_c():
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def _state(pid: int) -> tuple[str, str]:
    """Its name and the state that the kernel tells, `X` for one that is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        words = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "", "X"
    return words, text.rpartition(")")[2].split()[0]


def _below(pid: int) -> list[int]:
    found = []
    for told in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(child) for child in told.read_text(encoding="ascii").split()]
        except OSError:
            continue
    return [one for child in found for one in (child, *_below(child))]


@pytest.mark.engine
@pytest.mark.xdist_group("rehearsal")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_every_process_of_an_up_goes_with_it(number: signal.Signals) -> None:
    with tempfile.TemporaryDirectory(prefix="ended-") as folder:
        _end_an_up(number, Path(folder))


def _end_an_up(number: signal.Signals, folder: Path) -> None:
    words = (*CLI, "rehearse", "--stack", "rehearsal", "--only", "deploy")
    with subprocess.Popen(
        words,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as front:
        try:
            until = time.monotonic() + 120
            while not any("pulumi-language-python-exec" in _state(pid)[0] for pid in _below(front.pid)):
                assert front.poll() is None
                assert time.monotonic() < until
                time.sleep(0.2)
            started = _below(front.pid)
            assert any(_state(pid)[0].split("\0")[0].endswith("pulumi-language-python") for pid in started)
            front.send_signal(number)
            code = front.wait(30)
        finally:
            if front.poll() is None:
                front.kill()
    until = time.monotonic() + 10
    while (alive := [pid for pid in started if _state(pid)[1] not in "ZX"]) and time.monotonic() < until:
        time.sleep(0.1)
    assert alive == [], [_state(pid)[0] for pid in alive]
    assert code == (-signal.SIGKILL if number == signal.SIGKILL else 130)
    left = {path.name.rpartition("-")[0] for path in folder.iterdir()}
    assert left == ({"nightshift-engine"} if number == signal.SIGKILL else set())

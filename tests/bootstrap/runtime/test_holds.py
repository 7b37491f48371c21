"""Upgrades are masked before they're stopped, a running one is waited for, and each wait has its own end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bootstrap.commands import MISSING, Ran
from bootstrap.runtime import holds
from bootstrap.runtime.holds import LOCKS, Clock, hold_packages, lock_holder

DONE = Ran(0, "", "", 0.0)


class Node:
    """A machine whose answers are given, and whose time only waiting moves."""

    def __init__(self, root: Path, answers: Callable[[list[str]], Ran] = lambda command: DONE) -> None:
        self.root, self.asked, self.now, self.beats = root, list[list[str]](), 0.0, 0
        self._answers = answers

    def run(self, command: list[str], limit_s: float) -> Ran:
        self.asked.append(command)
        ran = self._answers(command)
        return Ran(0, "inactive\n", "", 0.0) if ran is DONE and command[1] == "show" else ran

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def beat(self) -> None:
        self.beats += 1

    def hold(self, wait_s: float = 300.0) -> dict[str, holds.Step]:
        clock = Clock(lambda: self.now, self.sleep)
        return {each.name: each for each in hold_packages(self.run, self.root, self.beat, wait_s, clock)}


@pytest.fixture
def debian(tmp_path: Path) -> Path:
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/apt-get").touch()
    for name in LOCKS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def test_everything_is_masked_first_and_the_service_is_not_waited_for_by_systemctl(debian: Path) -> None:
    node = Node(debian)
    steps = node.hold()
    assert all(each.done for each in steps.values())
    units = ["apt-daily.timer", "apt-daily-upgrade.timer", "unattended-upgrades.service"]
    assert node.asked[:3] == [
        ["systemctl", "mask", *units],
        ["systemctl", "stop", *units[:2]],
        ["systemctl", "stop", "--no-block", units[2]],
    ]


def test_an_upgrade_under_way_is_waited_for_with_a_heartbeat_and_named_when_time_is_up(
    debian: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holds, "lock_holder", lambda path: 1 if path.name == "lock-frontend" else None)
    node = Node(debian)
    step = node.hold(wait_s=120.0)["dpkg free"]
    assert not step.done
    assert step.says.startswith("after 120 s still /var/lib/dpkg/lock-frontend held by process 1 (")
    assert node.now == 120.0
    assert node.beats == 120


def test_a_service_that_does_not_stop_ends_the_wait_by_its_own_deadline(debian: Path) -> None:
    node = Node(debian, lambda command: Ran(0, "deactivating\n", "", 0.0) if "show" in command else DONE)
    steps = node.hold()
    assert steps["dpkg free"].done
    assert steps["upgrades stopped"].says == "after 60 s still unattended-upgrades.service deactivating"


@pytest.mark.parametrize(
    ("ran", "done"),
    [
        (Ran(5, "", "Failed to stop apt-daily.timer: Unit apt-daily.timer not loaded.", 0.0), True),
        (Ran(1, "", "Failed to connect to bus", 0.0), False),
        (Ran(MISSING, "", "systemctl: No such file or directory", 0.0), False),
    ],
)
def test_a_unit_that_is_not_there_is_held_and_a_refusal_is_said(debian: Path, ran: Ran, done: bool) -> None:
    step = Node(debian, lambda command: ran if command[1] == "stop" else DONE).hold()["stop timers"]
    assert step.done is done
    assert done or ran.err in step.says


def test_amazon_linux_has_timers_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/dnf").touch()
    node = Node(tmp_path)
    assert all(each.done for each in node.hold().values())
    assert node.asked[0] == ["systemctl", "mask", "dnf-automatic.timer", "dnf-automatic-install.timer"]


def test_an_unknown_system_is_said(tmp_path: Path) -> None:
    (step,) = Node(tmp_path).hold().values()
    assert not step.done
    assert "neither apt-get nor dnf" in step.says


@pytest.mark.node
def test_the_holder_of_a_real_lock_is_named_and_no_lock_is_taken_to_find_out(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    assert lock_holder(path) is None
    assert lock_holder(tmp_path / "missing") is None
    hold = "f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX)"
    program = f"import fcntl, sys; {hold}; print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        assert lock_holder(path) == holder.pid
        assert holds.command_of(holder.pid).startswith("python")
        holder.communicate("\n")
    assert lock_holder(path) is None

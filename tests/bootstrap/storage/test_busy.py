"""A volume that somebody keeps busy: named, asked to end, killed after the budget, and only then let go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bootstrap.storage.devices import held_elsewhere
from bootstrap.storage.holders import scan
from bootstrap.storage.waiting import Clock
from nightshift.emulator.sandbox.devices import sh
from tests.bootstrap.storage.support.bench import Bench
from tests.bootstrap.storage.support.machine import SHORT

pytestmark = pytest.mark.node
HOLDS = {
    "cwd": "import os; os.chdir(at)",
    "open file": "held = open(at + '/held', 'w')",
    "mapped file": (
        "import mmap, os; f = open(at + '/held', 'wb+'); f.truncate(4096); "
        "held = mmap.mmap(f.fileno(), 4096); f.close(); os.closerange(3, 20)"
    ),
    "root": "import os; os.chroot(at)",
}
LOOP = "print('up', flush=True)\nimport time\ntime.sleep(600)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"


@contextmanager
def holding(*command: str) -> Generator[subprocess.Popen[bytes]]:
    """A process that has said that it holds."""
    with subprocess.Popen(list(command), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        try:
            yield process
        finally:
            process.kill()


def python(node: Bench, *lines: str) -> tuple[str, ...]:
    return (sys.executable, "-c", "\n".join([f"at = {str(node.path)!r}", *lines, LOOP]))


@pytest.mark.parametrize("why", HOLDS)
def test_who_holds_it_is_named_and_ended_by_asking(node: Bench, why: str) -> None:
    assert node.attach().ready
    with holding(*python(node, HOLDS[why])) as process:
        (holder,) = scan(Path("/proc"), node.disk.number)
        assert (holder.pid, holder.why) == (process.pid, (why,))
        began = time.monotonic()
        report = node.release()
        assert time.monotonic() - began < SHORT.term_s + 2
        assert process.wait(1) == -signal.SIGTERM
    assert report.clean, report.problems
    assert f"pid {process.pid}: {why}" in report.volumes[0].ended[0]


def test_one_that_will_not_end_is_killed_after_the_budget(node: Bench) -> None:
    assert node.attach().ready
    with holding(*python(node, STUBBORN, HOLDS["open file"])) as process:
        report = node.release()
        assert process.wait(1) == -signal.SIGKILL
    assert report.clean, report.problems
    ended = next(step for step in report.volumes[0].steps if step.name == "end")
    assert SHORT.term_s <= ended.seconds < SHORT.term_s + 2


def test_a_copy_in_another_mount_namespace_is_found_by_the_kernels_word_and_ended(node: Bench) -> None:
    assert node.attach().ready
    with holding("unshare", "-m", sys.executable, "-c", LOOP) as process:
        report = node.release()
        assert process.wait(1) == -signal.SIGTERM
    assert report.clean, report.problems
    assert "own mount namespace" in report.volumes[0].ended[0]
    assert [step.name for step in report.volumes[0].steps][-2:] == ["alone", "detach"]


def test_a_namespace_that_gets_our_unmounts_is_no_holder_and_lives_on(node: Bench) -> None:
    """So run the services of systemd: slaves of ours, with a copy that goes when ours goes."""
    sh("mount", "--bind", str(node.machine.roots.data), str(node.machine.roots.data))
    sh("mount", "--make-shared", str(node.machine.roots.data))
    assert node.attach().ready
    with (
        holding("unshare", "-m", "--propagation", "slave", sys.executable, "-c", LOOP) as service,
        holding(*python(node, HOLDS["cwd"])) as user,
    ):
        report = node.release()
        assert report.clean, report.problems
        assert user.wait(1) == -signal.SIGTERM
        assert service.poll() is None
    assert len(report.volumes[0].ended) == 1


def test_who_does_not_hold_it_is_left_alone(node: Bench) -> None:
    assert node.attach().ready
    with (
        holding(sys.executable, "-c", LOOP) as bystander,
        holding(*python(node, HOLDS["cwd"])),
    ):
        assert node.release().clean
        assert bystander.poll() is None


def test_mounts_upon_the_volume_go_before_it(node: Bench) -> None:
    assert node.attach().ready
    (node.path / "inner").mkdir()
    sh("mount", "-t", "tmpfs", "none", str(node.path / "inner"))
    elsewhere = node.folder / "bind"
    elsewhere.mkdir()
    sh("mount", "--bind", str(node.path), str(elsewhere))
    report = node.release()
    assert report.clean, report.problems
    assert not os.path.ismount(elsewhere)
    assert not held_elsewhere(node.disk.loop)


def test_one_that_cannot_be_freed_is_not_detached_and_said(node: Bench) -> None:
    """A loop device upon a file of the volume is the kernel's own: no process to end."""
    assert node.attach().ready
    inner = node.path / "image"
    inner.write_bytes(bytes(1 << 20))
    loop = sh("losetup", "--find", "--show", str(inner))
    report = node.release()
    assert not report.clean
    assert "no process seen" in report.problems[0].found
    assert node.site.volumes[node.disk.id].holder == "i-0node"
    assert os.path.ismount(node.path)
    sh("losetup", "-d", loop)
    assert node.release().clean


def test_releasing_twice_is_the_same_as_once(node: Bench) -> None:
    assert node.attach().ready
    assert node.release().clean
    again = node.release()
    assert again.clean
    assert again.volumes == ()
    assert [event[0] for event in node.site.events] == ["attach", "detach"]


def test_what_is_not_held_is_not_touched(node: Bench) -> None:
    node.site.volumes[node.disk.id] = replace(
        node.site.volumes[node.disk.id], state="in-use", holder="i-0other", holding="attached"
    )
    assert node.release().volumes == ()
    assert node.site.volumes[node.disk.id].holder == "i-0other"


def test_every_step_of_a_release_is_measured(node: Bench) -> None:
    assert node.attach().ready
    beats: list[str] = []
    place = replace(node.place(), heartbeat=beats.append, clock=Clock())
    steps = node.release(place).volumes[0].steps
    assert [step.name for step in steps] == ["sync", "unmount", "alone", "detach"]
    assert all(0 <= step.seconds < 5 for step in steps)
    assert any("waiting for vol-0abc to be free" in beat for beat in beats)

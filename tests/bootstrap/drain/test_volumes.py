"""Volumes at a drain's end, on real devices: unmounted without AWS, in time, whoever holds them."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator

import pytest

from bootstrap.drain.volumes import Volumes
from tests.bootstrap.storage.support.bench import Bench, bench, wish
from tests.bootstrap.storage.support.fake_aws import refused
from tests.bootstrap.storage.support.machine import reason_to_skip

pytestmark = [pytest.mark.node, pytest.mark.xdist_group("storage")]
HOLD = "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


@pytest.fixture(name="node")
def _node() -> Iterator[Bench]:
    if reason := reason_to_skip():
        pytest.skip(reason)
    with bench() as made:
        assert made.attach().ready
        yield made


def volumes(node: Bench) -> Volumes:
    return Volumes((wish("runs"),), node.aws, node.place())


def mounted(node: Bench) -> bool:
    return subprocess.run(["mountpoint", "-q", str(node.path)], check=False).returncode == 0


def test_a_volume_is_unmounted_without_a_word_of_aws_and_then_given_back(node: Bench) -> None:
    (node.path / "last").write_text("word")
    node.site.volumes.clear()
    let = volumes(node).unmount(20)
    assert let.done
    assert let.says.startswith("runs: sync ")
    assert not mounted(node)


def test_unmounting_twice_is_no_harm(node: Bench) -> None:
    ends = volumes(node)
    assert ends.unmount(20).done
    assert ends.unmount(20) == ends.unmount(20)
    assert ends.unmount(20).says == "nothing was mounted"
    assert ends.release(20).done
    assert [event[0] for event in node.site.events] == ["attach", "detach"]
    assert ends.release(20).says == "none was attached"


def test_a_process_that_hears_nothing_costs_no_more_than_the_share(node: Bench) -> None:
    command = ["python3", "-S", "-c", HOLD]
    with subprocess.Popen(command, cwd=node.path) as holder:
        time.sleep(0.3)
        began = time.monotonic()
        let = volumes(node).unmount(8)
        took = time.monotonic() - began
        assert holder.wait(5) == -signal.SIGKILL
    assert let.done
    assert f"pid {holder.pid}" in let.says
    assert took < 8
    assert not mounted(node)


def test_a_refused_detach_is_said(node: Bench) -> None:
    ends = volumes(node)
    ends.unmount(20)

    def no(_volume: str) -> None:
        raise refused("UnauthorizedOperation", "not yours")

    aws = node.aws
    aws.detached = no
    let = Volumes((wish("runs"),), aws, node.place()).release(3)
    assert not let.done
    assert "UnauthorizedOperation" in let.says

"""Nodes that see each other and nobody else, and that leave nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from nightshift.emulator.sandbox.network import Network, SandboxError
from nightshift.emulator.sandbox.node import Node, NodeError
from nightshift.emulator.sandbox.place import MEMORY, PREFIX, born, group_root, make_folder, sweep

pytestmark = pytest.mark.node
SERVE = """
import socket
server = socket.create_server(("0.0.0.0", 7000))
print("ready", flush=True)
while True:
    server.accept()[0].close()
"""
CALL = """
import socket, sys
socket.create_connection((sys.argv[1], 7000), 1).close()
"""
MURDERED = """
import sys
from pathlib import Path
from nightshift.emulator.sandbox import network, place
network.make_folder = lambda: place.make_folder(Path(sys.argv[1]))
net = network.Network().__enter__()
node = net.node("i-0dead")
node.popen(["sleep", "1000"])
print(net.folder, node.pid, flush=True)
sys.stdin.read()
"""


def calls(node: Node, to: str) -> bool:
    return node.run([sys.executable, "-S", "-c", CALL, to], check=False).returncode == 0


@pytest.fixture
def served(net: Network) -> Node:
    """A node that answers on a port."""
    node = net.node("i-0server")
    process = node.popen([sys.executable, "-S", "-c", SERVE], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.stdout.close()
    return node


def test_a_node_reaches_its_neighbour_by_name_and_address(net: Network, served: Node) -> None:
    other = net.node("i-0client")
    assert calls(other, served.ip)
    assert calls(other, served.hostname)


def test_a_cut_node_is_not_heard_until_it_is_healed(net: Network, served: Node) -> None:
    other = net.node("i-0client")
    other.cut()
    assert not calls(other, served.ip)
    other.heal()
    assert calls(other, served.ip)
    served.cut()
    assert not calls(other, served.ip)
    assert served.up, "it lives, unheard"


def test_names_are_told_without_a_look_up(net: Network) -> None:
    node, other = net.node("i-0a"), net.node("i-0b")
    ask = "import socket, sys; print(socket.getfqdn(), socket.gethostbyaddr(sys.argv[1])[0])"
    began = time.monotonic()
    said = node.run([sys.executable, "-S", "-c", ask, other.ip]).stdout.split()
    assert said == [f"{node.hostname}.ec2.internal", f"{other.hostname}.ec2.internal"]
    assert time.monotonic() - began < 3, "10 s is what one look-up without an answer takes"
    unknown = "import socket; socket.gethostbyname('nowhere.example')"
    began = time.monotonic()
    assert node.run([sys.executable, "-S", "-c", unknown], check=False).returncode
    assert time.monotonic() - began < 3


def test_signals_and_exit_codes_are_the_programs_own(net: Network) -> None:
    node = net.node("i-0a")
    assert node.run(["sh", "-c", "exit 7"], check=False).returncode == 7
    process = node.popen(["sleep", "100"])
    process.terminate()
    assert process.wait(5) == -signal.SIGTERM
    with pytest.raises(subprocess.TimeoutExpired):
        node.run(["sleep", "100"], timeout=0.2)
    assert node.run(["sh", "-c", "cat /proc/[0-9]*/comm"]).stdout.count("sleep") == 0


def test_its_environment_holds_only_what_is_given(net: Network) -> None:
    node = net.node("i-0a")
    told = node.run(["env"], env={"GIVEN": "1"}).stdout.splitlines()
    assert {line.partition("=")[0] for line in told} == {"PATH", "GIVEN"}


def test_a_killed_node_takes_all_its_processes_and_keeps_its_disk(net: Network) -> None:
    node = net.node("i-0a")
    node.run(["sh", "-c", "mkdir -p /opt/kept && echo yes > /opt/kept/file && echo no > /run/file"])
    script = "setsid sleep 100 & setsid sleep 100 & wait"
    process = node.popen(["sh", "-c", script])
    deadline = time.monotonic() + 5
    while node.run(["sh", "-c", "cat /proc/[0-9]*/comm"]).stdout.count("sleep") < 2:
        assert time.monotonic() < deadline
    began = time.monotonic()
    node.kill()
    assert time.monotonic() - began < 3
    assert process.wait(1) == -signal.SIGKILL
    with pytest.raises(NodeError, match="i-0a is down"):
        node.run(["true"])
    node.start()
    assert node.run(["cat", "/opt/kept/file"]).stdout == "yes\n"
    assert node.run(["ls", "/run/file"], check=False).returncode, "a boot begins with an empty /run"


def test_what_a_node_writes_is_its_own(net: Network, tmp_path: Path) -> None:
    node = net.node("i-0a", share=(tmp_path,))
    node.run(["sh", "-c", f"echo x > /etc/written; echo y > {tmp_path}/shared"])
    assert not Path("/etc/written").exists()
    assert (tmp_path / "shared").read_text() == "y\n"
    assert node.path("/etc/written").read_text() == "x\n"
    assert net.node("i-0b").run(["cat", "/etc/written"], check=False).returncode


def test_a_small_disk_is_full_at_its_size(net: Network) -> None:
    node = net.node("i-0a", disk_mib=8)
    done = node.run(["dd", "if=/dev/zero", "of=/opt/big", "bs=1M", "count=20"], check=False)
    assert "No space left on device" in done.stderr


def test_orphans_are_reaped(net: Network) -> None:
    node = net.node("i-0a")
    node.run(["sh", "-c", "(sleep 0.1 &)"])
    deadline = time.monotonic() + 5
    while "(sleep)" in node.run(["sh", "-c", "cat /proc/[0-9]*/stat"]).stdout:
        assert time.monotonic() < deadline


@pytest.mark.skipif(group_root() is None, reason="no control groups of version 2 here")
def test_a_node_sees_its_control_group_as_the_root_and_may_divide_it(net: Network) -> None:
    node = net.node("i-0a")
    assert node.run(["tail", "-1", "/proc/self/cgroup"]).stdout == "0::/\n"
    node.run(["mkdir", "/sys/fs/cgroup/job"])
    with node.popen(["sh", "-c", "echo 0 > /sys/fs/cgroup/job/cgroup.procs; sleep 100"]) as process:
        assert node.group is not None
        procs = node.group / "job" / "cgroup.procs"
        deadline = time.monotonic() + 5
        while not procs.read_text():
            assert time.monotonic() < deadline
        node.run(["sh", "-c", "echo 1 > /sys/fs/cgroup/job/cgroup.kill"])
        assert process.wait(5) == -signal.SIGKILL


def test_two_networks_of_the_same_addresses_do_not_meet(net: Network, served: Node) -> None:
    with Network() as other:
        away = other.node("i-0client")
        stranger = other.node("i-0stranger")
        assert stranger.ip != away.ip
        assert away.ip == served.ip
        assert not calls(stranger, served.ip), "nobody of that address answers in this network"


def test_a_network_leaves_nothing(net: Network) -> None:
    names = set(Path("/sys/class/net").iterdir())
    with Network() as other:
        pid = other.node("i-0a").pid
        folder = other.folder
    assert not folder.exists()
    assert born(pid) is None
    assert set(Path("/sys/class/net").iterdir()) == names
    assert not Path("/run/netns").exists() or not list(Path("/run/netns").glob(f"{PREFIX}*"))


def test_a_killed_run_leaves_files_alone_and_the_next_takes_them_away(net: Network) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as where:
        command = [sys.executable, "-c", MURDERED, where]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            told, pid = process.stdout.readline().split()
            process.kill()
        deadline = time.monotonic() + 10
        while born(int(pid)) is not None:
            assert time.monotonic() < deadline, "the node's pid 1 outlives its maker"
            time.sleep(0.02)
        assert Path(told).is_dir()
        living = make_folder(Path(where))
        assert not Path(told).exists(), "a new run takes it away"
        assert sweep(Path(where)) == []
        assert living.is_dir(), "one whose process lives is let alone"
        root = group_root()
        assert root is None or not (root / Path(told).name).exists()


def test_the_same_instance_twice_is_refused(net: Network) -> None:
    net.node("i-0a")
    with pytest.raises(SandboxError, match="i-0a is there already"):
        net.node("i-0a")

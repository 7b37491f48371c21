"""A network of nodes that nobody else sees: a bridge in a namespace of its own, and a node on each port.

Everything in it is held by processes that end with this one, so a killed run leaves only files (see place).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from nightshift.emulator.sandbox.gateway import Gateway
from nightshift.emulator.sandbox.imds import Identity
from nightshift.emulator.sandbox.names import Port
from nightshift.emulator.sandbox.node import Node
from nightshift.emulator.sandbox.place import MEMORY, discard, make_folder, make_group, remove_group
from nightshift.emulator.sandbox.power import Power
from nightshift.emulator.sandbox.volumes import Volumes

SUBNET, GATEWAY, MOST_NODES = "10.77.0", "10.77.0.1", 200
BRIDGE = "02:4e:53:00:00:01"
"""A bridge without an address of its own takes one of its ports', and another when that node goes."""
TOOLS = ("ip", "unshare", "nsenter", "mount", "losetup")
_HOLD = "import sys; print('ready', flush=True); sys.stdin.read()"


class SandboxError(RuntimeError):
    """A sandbox can't be made; the text says why."""


def reason_to_skip() -> str | None:
    """Why nodes can't be made on this machine, or None."""
    if sys.platform != "linux":
        return "needs Linux namespaces"
    if os.geteuid() != 0:
        return "needs root: namespaces, mounts and block devices"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return f"needs {', '.join(missing)}: install iproute2 and util-linux"
    if not MEMORY.is_dir() or MEMORY.stat().st_dev == Path("/").stat().st_dev:
        return f"needs {MEMORY} on a filesystem of its own"
    return _refused()


def _refused() -> str | None:
    """What the kernel says to a namespace and an overlay: containers often forbid both."""
    probe = ["unshare", "--net", "--mount", "--uts", "--pid", "--ipc", "--cgroup", "--fork", "true"]
    done = subprocess.run(probe, check=False, capture_output=True, text=True)
    if done.returncode:
        return f"needs namespaces: {done.stderr.strip()}"
    known = Path("/proc/filesystems").read_text(encoding="ascii")
    return None if "overlay" in known else "needs the kernel's overlay filesystem"


class Network:
    """`with Network() as net: node = net.node("i-0abc")`. At most 200 nodes in one.

    `share`: folders of this machine that every node sees as they are, at the same path, and may write to.
    `cloud`: the emulated AWS's endpoint; nodes reach it at the same address as this process does, and what it
    says of volumes and power happens to them, unless `follow` is off: then it's only there to be asked.
    """

    def __init__(
        self, *, share: tuple[Path, ...] = (), cloud: str | None = None, follow: bool = True
    ) -> None:
        self.share = share
        self._cloud, self._follow = cloud, follow
        self._exit = ExitStack()
        self._nodes: list[Node] = []
        self._made = 0
        self._lock = threading.Lock()
        self.folder = Path()
        self._hub = 0
        self.gateway: Gateway | None = None
        self.volumes: Volumes | None = None

    def __enter__(self) -> Network:
        with ExitStack() as stack:
            self.folder = make_folder()
            stack.callback(discard, self.folder)
            group = make_group(self.folder.name)
            if group is not None:
                stack.callback(remove_group, group)
            self._hub = _hold(stack)
            self._bridge()
            if self._cloud is not None:
                self._serve(self._cloud, stack)
            self._exit = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._exit:
            for node in self._nodes:
                self._exit.callback(node.close)

    def _serve(self, cloud: str, stack: ExitStack) -> None:
        self.gateway = Gateway(self._hub, GATEWAY, cloud)
        stack.callback(self.gateway.close)
        if not self._follow:
            return
        self.volumes = Volumes(cloud, self.folder / "volumes", self.find)
        stack.callback(self.volumes.close)
        self.gateway.done = self.volumes.hear
        self.volumes.start()
        power = Power(cloud, lambda: list(self._nodes))
        stack.callback(power.close)
        power.start()

    def remove(self, node: Node) -> None:
        """Take a node down for good; its address is free again."""
        node.close()
        self._nodes.remove(node)

    def find(self, instance_id: str) -> Node | None:
        """The node of an instance, up or down."""
        return next((each for each in self._nodes if each.id == instance_id), None)

    def _bridge(self) -> None:
        bridge = f"link add br0 address {BRIDGE} type bridge"
        for command in ("link set lo up", bridge, "link set br0 up"):
            self.ip(*command.split())
        self.ip("addr", "add", f"{GATEWAY}/24", "dev", "br0")

    def ip(self, *arguments: str) -> None:
        """The `ip` command on the network's own side. Raises SandboxError."""
        command = ["nsenter", f"--net=/proc/{self._hub}/ns/net", "ip", *arguments]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise SandboxError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")

    def node(
        self,
        instance_id: str,
        *,
        zone: str = "us-east-1a",
        type: str = "g6.12xlarge",
        share: tuple[Path, ...] = (),
        disk_mib: int | None = None,
        identity: Identity | None = None,
        start: bool = True,
    ) -> Node:
        """A new node, up unless `start` is false: then change its image, and `boot` it.

        `disk_mib` bounds what it can write to its root; then a reboot empties it.
        """
        found = identity or Identity(instance_id, type, zone)
        with self._lock:
            made = self._placed(found, share, disk_mib)
        if start:
            made.start()
        return made

    def _placed(self, identity: Identity, share: tuple[Path, ...], disk_mib: int | None) -> Node:
        """On a free port. Raises SandboxError."""
        if self.find(identity.instance_id) is not None:
            raise SandboxError(f"{identity.instance_id} is there already; `start` boots a killed node again")
        taken = {each.port.number for each in self._nodes}
        number = next((each for each in range(10, 10 + MOST_NODES) if each not in taken), None)
        if number is None:
            raise SandboxError(f"a sandbox has at most {MOST_NODES} nodes")
        port = Port(number, f"{SUBNET}.{number}", GATEWAY, self.ip)
        self._made += 1
        folder = self.folder / f"node-{self._made}"
        made = Node(folder, identity, port, (*self.share, *share), disk_mib, self.gateway)
        self._nodes.append(made)
        return made


def _hold(stack: ExitStack) -> int:
    """A process that keeps the hub's network until we end, however we end; its pid."""
    command = ["unshare", "--net", sys.executable, "-S", "-E", "-c", _HOLD]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stack.callback(process.communicate)
    assert process.stdout is not None
    if process.stdout.readline() != b"ready\n":
        raise SandboxError("a network namespace could not be made")
    return process.pid

"""One node: namespaces around a pid 1, a disk of its own, a port on the network, and its metadata service."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nightshift.emulator.sandbox.devices import Disk, Slots
from nightshift.emulator.sandbox.faults import Faults
from nightshift.emulator.sandbox.gateway import Gateway, Relay
from nightshift.emulator.sandbox.image import Image
from nightshift.emulator.sandbox.imds import Identity, Imds
from nightshift.emulator.sandbox.kernel import children_in
from nightshift.emulator.sandbox.names import Port, etc, host_name
from nightshift.emulator.sandbox.place import born, make_group, remove_group

TREE = Path(__file__).resolve().parents[3]
"""Where our package lies."""
INSIDE = Path(__file__).resolve().parent / "inside"
_RUN = (
    "import sys; sys.path.insert(0, sys.argv[1]); from nightshift.emulator.sandbox.inside.init import main; "
)
_INIT = _RUN + "sys.exit(main(sys.argv[2]))"
NAMESPACES = ("--net", "--mount", "--uts", "--pid", "--ipc", "--cgroup")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_JOIN = '[ -z "$1" ] || echo 0 > "$1"; shift; exec "$@"'
_IN = 'cd -- "$1" || exit 126; shift; unset PWD OLDPWD; exec "$@"'
_GONE_S = 10.0


class NodeError(RuntimeError):
    """A node can't be started, or isn't up; the text says why."""


class Node:
    """`popen` and `run` start programs in it; `kill` is a crash, `cut` an unplugged cable; its disk lives on.

    `faults`: what befalls its calls, to the metadata service and to AWS. `folder`: its files on this machine
    (`dev`, `sys/block`, and `disk/upper`: what it changed of its root).
    """

    def __init__(
        self,
        folder: Path,
        identity: Identity,
        port: Port,
        share: tuple[Path, ...],
        disk_mib: int | None,
        gateway: Gateway | None,
    ) -> None:
        self.identity = identity.at(port.address)
        self.port, self.share, self.disk_mib = port, share, disk_mib
        self.folder = folder
        self.slots = Slots(self.folder)
        for part in ("disk", "journal"):
            (self.folder / part).mkdir()
        self.binds: dict[str, str] = {}
        self.image = Image()
        self.gateway = gateway
        self.faults = gateway.faults_of(port.address) if gateway else Faults()
        self.imds = Imds(self.identity, gateway.credentials if gateway else None, self.faults)
        self.imds.follow = gateway.target_of if gateway else None
        self._init: subprocess.Popen[bytes] | None = None
        self._relay: Relay | None = None
        self._pid, self._cable = 0, ""
        self._children: list[subprocess.Popen[Any]] = []

    @property
    def id(self) -> str:
        """The instance's id."""
        return self.identity.instance_id

    @property
    def ip(self) -> str:
        """Its address on the network."""
        return self.port.address

    @property
    def hostname(self) -> str:
        """Its own name; every node knows everybody's."""
        return host_name(self.port.address)

    @property
    def pid(self) -> int:
        """Pid 1's id on this machine. Raises NodeError when the node is down."""
        if not self.up:
            raise NodeError(f"{self.id} is down")
        return self._pid

    @property
    def netns(self) -> Path:
        """Its network namespace."""
        return Path(f"/proc/{self.pid}/ns/net")

    @property
    def up(self) -> bool:
        """Whether its pid 1 lives."""
        return self._init is not None and self._init.poll() is None

    @property
    def group(self) -> Path | None:
        """Its control group as seen from here; inside it's the root of /sys/fs/cgroup. None: no version 2."""
        return make_group(f"{self.folder.parent.name}/{self.folder.name}")

    def _plan(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "hostname": self.hostname,
            "shares": [str(each) for each in (*_foreign(TREE, Path(sys.prefix)), *self.share)],
            "binds": self.binds,
            "disk_mib": self.disk_mib,
            "cgroup": self.group is not None,
            "etc": etc(self.ip),
            **self.image.plan(),
        }

    def boot(self) -> None:
        """Bring it up as a machine does: enabled units start, cloud-init runs user data if it never has."""
        self.start()
        self._say("boot")

    def shut_down(self) -> None:
        """Ask it to turn itself off, as EC2 does before an instance ends: services stop first."""
        self._say("poweroff")

    def _say(self, word: str) -> None:
        if self._init is None or self._init.stdin is None:
            raise NodeError(f"{self.id} is down")
        self._init.stdin.write(f"{word}\n".encode())
        self._init.stdin.flush()

    @property
    def ended(self) -> str | None:
        """`poweroff` when it turned itself off after its last start, None while up or when it was killed."""
        file = self.folder / "ended"
        return file.read_text(encoding="ascii") if file.exists() and not self.up else None

    def journal(self, unit: str = "nightshift.service") -> str:
        """All that a unit's processes said, of all boots."""
        file = self.folder / "journal" / f"{unit}.log"
        return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""

    @property
    def events(self) -> list[str]:
        """What pid 1 did: services started and ended, power."""
        return (self.folder / "init.log").read_text(encoding="utf-8", errors="replace").splitlines()

    def start(self) -> None:
        """Bring it up without a boot, first or again: a new /run, the disk as it was. Raises NodeError."""
        if self.up:
            return
        unshare = ["unshare", *NAMESPACES, "--fork", "--kill-child", sys.executable, "-S", "-E"]
        self.kill()
        (self.folder / "ended").unlink(missing_ok=True)
        plan = self.folder / "plan.json"
        plan.write_text(json.dumps(self._plan()), encoding="utf-8")
        command = ["sh", "-c", _JOIN, "sh", self._procs(), *unshare, "-c", _INIT, str(TREE), str(plan)]
        with (self.folder / "init.log").open("ab") as log:
            self._init = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env={"PATH": PATH}
            )
        assert self._init.stdout is not None
        if self._init.stdout.readline() != b"ready\n":
            self.kill()
            raise NodeError(f"{self.id} could not start: {(self.folder / 'init.log').read_text()[-2000:]}")
        self._pid = _only_child(self._init.pid)
        self._connect()

    def _procs(self) -> str:
        return str(self.group / "cgroup.procs") if self.group is not None else ""

    def _connect(self) -> None:
        self._cable = self.port.plug(self._pid)
        for command in (
            f"addr add {self.ip}/24 dev eth0",
            "addr add 169.254.169.254/32 dev lo",
            "link set eth0 up",
            f"route add default via {self.port.gateway}",
        ):
            self._enter("--net", "ip", *command.split())
        self.imds.listen(self._pid)
        if self.gateway is not None:
            self._relay = self.gateway.relay(self._pid)

    def _enter(self, *command: str) -> None:
        done = subprocess.run(
            ["nsenter", f"--target={self.pid}", *command], check=False, capture_output=True, text=True
        )
        if done.returncode:
            raise NodeError(f"{self.id}: {' '.join(command)}: {done.stderr.strip()}")

    def popen(
        self,
        argv: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | Path = "/",
        **given: Any,
    ) -> subprocess.Popen[Any]:
        """A process in the node, of which signals and exit code are those of `argv` itself.

        `env` is its whole environment beside PATH. Other arguments are subprocess.Popen's.
        """
        inner = ["/bin/sh", "-c", _IN, "sh", str(cwd), *map(str, argv)]
        spaces = ["--mount", "--uts", "--ipc", "--net", "--cgroup"]
        enter = ["nsenter", f"--target={self.pid}", *spaces, "--", *inner]
        command = ["/bin/sh", "-c", _JOIN, "sh", self._procs(), *enter]
        with children_in(self.pid):
            made = subprocess.Popen(command, env={"PATH": PATH, **(env or {})}, **given)
        self._children = [each for each in self._children if each.poll() is None]
        self._children.append(made)
        return made

    def run(
        self,
        argv: Sequence[str | Path],
        *,
        check: bool = True,
        timeout: float = 60,
        input: str | None = None,
        **given: Any,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program in the node to its end. Raises as subprocess.run does."""
        given = given if input is None else {**given, "stdin": subprocess.PIPE}
        pipes: dict[str, Any] = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **given}
        with self.popen(argv, **pipes) as process:
            try:
                out, err = process.communicate(input, timeout)
            except BaseException:
                process.kill()
                raise
        done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
        if check and done.returncode:
            raise subprocess.CalledProcessError(done.returncode, [str(each) for each in argv], out, err)
        return done

    def kill(self) -> None:
        """The node is gone at once, and all its processes with it; `start` boots it again."""
        if self._init is not None:
            self._init.kill()
            self._init.communicate()
            self._init = None
        if self._pid:
            self._wait_gone()
            self._pid = 0
        self.imds.close()
        if self._relay is not None:
            self._relay.close()
            self._relay = None

    def _wait_gone(self) -> None:
        """Pid 1 goes last, and not before we have taken those of its namespace that are our children."""
        end = time.monotonic() + _GONE_S
        while born(self._pid) is not None:
            for each in self._children:
                each.poll()
            if time.monotonic() > end:
                raise NodeError(f"{self.id}: pid 1 ({self._pid}) doesn't end")
            time.sleep(0.002)

    def plug(self, disk: Disk) -> str:
        """A disk appears as an NVMe device, whether the node is up or not; its name."""
        return self.slots.plug(disk)

    def unplug(self, disk: Disk) -> None:
        """It's gone. Raises InUse when it's mounted."""
        self.slots.unplug(disk)

    def cut(self) -> None:
        """Its cable is pulled: it and its neighbours are alive, and don't hear of each other."""
        self.port.ip("link", "set", self._cable, "down")

    def heal(self) -> None:
        """The cable is back."""
        self.port.ip("link", "set", self._cable, "up")

    def path(self, inside: str | Path) -> Path:
        """Where this machine sees a file of the running node. Raises NodeError when it's down."""
        return Path(f"/proc/{self.pid}/root") / str(inside).lstrip("/")

    def close(self) -> None:
        """Down for good."""
        group = self.group
        self.kill()
        if group is not None:
            remove_group(group)


def _foreign(*needed: Path) -> list[Path]:
    """Folders that don't lie on the root's own filesystem, so its overlay hasn't got them."""
    device = Path("/").stat().st_dev
    return [each for each in needed if each.stat().st_dev != device]


def _only_child(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()[0])

"""Pid 1 of a node: builds its root, says `ready`, and lives until its maker is gone or ends it.

Its argument is the path of a Plan in JSON. Standard input: a line `boot` begins a boot as a machine does it,
`poweroff` ends it as an operator would, and the end of it ends the node at once.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

from nightshift.emulator.sandbox.inside.loop import Loop
from nightshift.emulator.sandbox.inside.manager import Manager
from nightshift.emulator.sandbox.inside.units import Service

MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_LIBC = ctypes.CDLL(None, use_errno=True)
NODES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}
Plan = dict[str, Any]
"""`folder`: the node's own folder on the host; `hostname`; `shares`: folders of the host that the node sees
as they are; `binds`: target to source, laid over the root last; `disk_mib`: size of the root disk, or None;
`cgroup`: whether the node has a cgroup of its own to see; `etc`: files of /etc; `programs`, `files`: path
to text; `links`: path to target; `image`: units that the image has, with their states; `environment`: what
services get; `cloud_init`: what runs user data."""


def checked(result: int, what: str) -> None:
    """Raise what the last call to libc failed with."""
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: Path, kind: str = "", flags: int = 0, options: str = "") -> None:
    """mount(2). Raises OSError."""
    result = _LIBC.mount(source.encode(), str(target).encode(), kind.encode(), flags, options.encode())
    checked(result, f"mount {kind or source} on {target}")


def bind(source: Path, target: Path) -> None:
    """`source` with all that is mounted below it, at `target`, which is made if need be."""
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    elif not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    mount(str(source), target, "", MS_BIND | MS_REC)


def build_root(plan: Plan) -> Path:
    """The host's root as an image, with this node's own disk laid over it."""
    folder = Path(plan["folder"])
    disk, root = folder / "disk", folder / "root"
    if plan["disk_mib"] is not None:
        mount("tmpfs", disk, "tmpfs", 0, f"size={plan['disk_mib']}m")
    upper, work = disk / "upper", disk / "work"
    for each in (upper, work, root):
        each.mkdir(exist_ok=True)
    mount("overlay", root, "overlay", 0, f"lowerdir=/,upperdir={upper},workdir={work}")
    return root


def fill(root: Path, plan: Plan) -> None:
    """Kernel filesystems, the node's devices, what it shares, and the names of its neighbours."""
    folder = Path(plan["folder"])
    mount("proc", root / "proc", "proc", MS_NOSUID | MS_NODEV)
    mount("sysfs", root / "sys", "sysfs", MS_NOSUID | MS_NODEV)
    if plan["cgroup"]:
        mount("cgroup2", root / "sys/fs/cgroup", "cgroup2", MS_NOSUID | MS_NODEV)
    mount("tmpfs", root / "run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")
    bind(folder / "dev", root / "dev")
    mount("none", root / "dev", "", MS_REMOUNT | MS_BIND | MS_NOSUID)
    fill_dev(root / "dev")
    bind(folder / "sys/block", root / "sys/block")
    for share in plan["shares"]:
        bind(Path(share), root / share.lstrip("/"))
    for target, source in plan["binds"].items():
        bind(Path(source), root / target.lstrip("/"))


def fill_dev(dev: Path) -> None:
    """The devices that every Linux has."""
    for name, (major, minor) in NODES.items():
        if not (dev / name).exists():
            os.mknod(dev / name, stat.S_IFCHR | 0o666, os.makedev(major, minor))
            (dev / name).chmod(0o666)
    for name, target in LINKS.items():
        if not (dev / name).is_symlink():
            (dev / name).symlink_to(target)
    for name, kind, options in (
        ("pts", "devpts", "newinstance,ptmxmode=0666"),
        ("shm", "tmpfs", "mode=1777"),
    ):
        (dev / name).mkdir(exist_ok=True)
        mount(kind, dev / name, kind, MS_NOSUID, options)


def enter(root: Path) -> None:
    """Make it the root of this namespace; the host's is gone from it."""
    old = root / "run" / "old"
    old.mkdir()
    number = SYS_PIVOT_ROOT[os.uname().machine]
    checked(_LIBC.syscall(number, str(root).encode(), str(old).encode()), "pivot_root")
    os.chdir("/")
    checked(_LIBC.umount2(b"/run/old", MNT_DETACH), "umount the old root")
    Path("/run/old").rmdir()


def name_host(plan: Plan) -> None:
    """Hostname and neighbours' names. No DNS: a look-up of anything else fails at once."""
    socket.sethostname(plan["hostname"])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for name in ("hosts", "hostname", "resolv.conf"):
        path = Path("/etc") / name
        path.unlink(missing_ok=True)
        path.write_text(plan["etc"][name], encoding="utf-8")


def install(plan: Plan) -> None:
    """The programs that stand in for the image's, its other files, its links."""
    for mode, kind in ((0o755, "programs"), (0o644, "files")):
        for name, text in plan[kind].items():
            path = _cleared(name)
            path.write_text(text, encoding="utf-8")
            path.chmod(mode)
    for name, target in plan["links"].items():
        _cleared(name).symlink_to(target)


def _cleared(name: str) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    return path


def main(given: str) -> int:
    """Until it ends, the node lives."""
    plan: Plan = json.loads(Path(given).read_text(encoding="utf-8"))
    mount("none", Path("/"), "", MS_REC | MS_PRIVATE)
    folder = os.open(plan["folder"], os.O_RDONLY | os.O_DIRECTORY)
    journal = os.open("journal", os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
    root = build_root(plan)
    fill(root, plan)
    enter(root)
    name_host(plan)
    install(plan)

    def note(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def power_off(why: str) -> None:
        loop.power_off(why)

    manager = Manager(plan["image"], plan["environment"], journal, note, power_off)
    cloud_init = Service("cloud-final.service", tuple(plan["cloud_init"]), type="oneshot", stop_s=5.0)
    loop = Loop(manager, cloud_init, note)
    print("ready", flush=True)
    ended = loop.run()
    with os.fdopen(os.open("ended", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=folder), "w") as file:
        file.write(ended)
    return 0

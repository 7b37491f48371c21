"""Pid 1 of a node: builds its root, says `ready`, then reaps until its maker is gone or ends it.

Run as a file with the path of a Plan in JSON. What it needs of Python is imported before the root changes.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_LIBC = ctypes.CDLL(None, use_errno=True)
NODES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}
Plan = dict[str, Any]
"""`folder`: the node's own folder on the host; `hostname`; `shares`: folders of the host that the node sees
as they are; `binds`: target to source, laid over the root last; `disk_mib`: size of the root disk, or None;
`cgroup`: whether the node has a cgroup of its own to see."""


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


def serve() -> None:
    """Reap orphans until standard input ends: then our maker is gone, and all goes with us."""
    wake, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready, _, _ = select.select([0, wake], [], [])
        if 0 in ready and not os.read(0, 1024):
            return
        if wake in ready:
            os.read(wake, 1024)
            reap()


def reap() -> None:
    """Take every child that has ended."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return


def main(given: str) -> int:
    """Until it ends, the node lives."""
    plan: Plan = json.loads(Path(given).read_text(encoding="utf-8"))
    mount("none", Path("/"), "", MS_REC | MS_PRIVATE)
    root = build_root(plan)
    fill(root, plan)
    enter(root)
    name_host(plan)
    print("ready", flush=True)
    serve()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

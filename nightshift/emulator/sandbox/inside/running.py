"""One service's processes: begun as systemd begins them, ended as its KillMode says."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nightshift.emulator.sandbox.inside.units import NO_LIMIT, Ended, Service

SLICE = Path("/sys/fs/cgroup/system.slice")
OPEN_FILES, LOCKED_MEMORY = (1024, 524288), (8 << 20, 8 << 20)
"""Soft and hard limits of a service that sets none (systemd's own defaults)."""
EXEC_FAILED, CHDIR_FAILED = 203, 200
"""Exit codes as systemd has them."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass
class Running:
    """A loaded service and its state: inactive, active, activating (to start again), deactivating, failed."""

    service: Service
    state: str = "inactive"
    pid: int = 0
    again_at: float | None = None
    kill_at: float | None = None
    start_after: bool = False
    starts: list[float] = field(default_factory=list)
    started: int = 0

    @property
    def group(self) -> Path | None:
        """Its control group, where there are any."""
        return SLICE / self.service.name if SLICE.parent.joinpath("cgroup.procs").exists() else None

    def start(self, environment: Mapping[str, str], log: int) -> None:
        """A new main process, whose output goes to `log`."""
        group = self.group
        if group is not None:
            group.mkdir(parents=True, exist_ok=True)
        self.pid = os.fork()
        if not self.pid:
            _become(self.service, environment, group, log)
        self.state, self.again_at = "active", None
        self.started += 1
        self.starts.append(time.monotonic())

    def limited(self) -> bool:
        """Whether it has been started too often to be started now."""
        now, unit = time.monotonic(), self.service
        self.starts = [each for each in self.starts if now - each < unit.interval_s]
        return unit.interval_s > 0 and len(self.starts) >= unit.burst

    def stop(self) -> None:
        """Ask it to end; what hasn't ended by its time is killed."""
        self.again_at = None
        if not self.pid:
            self.state = "inactive" if self.state != "failed" else "failed"
            return
        self.state = "deactivating"
        self.kill_at = time.monotonic() + self.service.stop_s
        whole = self.service.kill_mode == "control-group"
        for pid in self.members() if whole else [self.pid]:
            _signal(pid, signal.SIGTERM)

    def kill(self) -> None:
        """All of it, at once."""
        self.kill_at = None
        for pid in self.members():
            _signal(pid, signal.SIGKILL)

    def members(self) -> list[int]:
        """Its processes: all of its control group's, or the main one alone."""
        group = self.group
        files = sorted(group.rglob("cgroup.procs")) if group is not None else []
        found = {int(word) for file in files for word in _text(file).split()}
        return sorted(found | ({self.pid} if self.pid else set()))

    def ended(self, how: Ended) -> str:
        """Its main process has ended: the next state, and the rest of it is killed."""
        self.pid, self.kill_at = 0, None
        if self.service.kill_mode in ("mixed", "control-group"):
            self.kill()
        if self.state == "deactivating":
            self.state = "inactive"
        elif self.service.starts_again(how):
            self.state, self.again_at = "activating", time.monotonic() + self.service.restart_s
        else:
            self.state = "inactive" if how.clean else "failed"
        return self.state


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii")
    except OSError:
        return ""


def _become(service: Service, environment: Mapping[str, str], group: Path | None, log: int) -> None:
    """In the child: never returns."""
    code = EXEC_FAILED
    try:
        os.setsid()
        if group is not None:
            (group / "cgroup.procs").write_text("0", encoding="ascii")
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        _limit(resource.RLIMIT_NOFILE, service.open_files, OPEN_FILES)
        _limit(resource.RLIMIT_MEMLOCK, service.locked_memory, LOCKED_MEMORY)
        nothing = os.open("/dev/null", os.O_RDONLY)
        for number, source in enumerate((nothing, log, log)):
            os.dup2(source, number)
        code = CHDIR_FAILED
        os.chdir(service.folder)
        code = EXEC_FAILED
        told = {"PATH": PATH, "LANG": "C.UTF-8", **environment, **service.environment}
        os.execvpe(service.command[0], service.command, told)
    except (OSError, ValueError) as error:
        os.write(2, f"{service.name}: {error}\n".encode())
    finally:
        os._exit(code)


def _limit(kind: int, given: int | None, otherwise: tuple[int, int]) -> None:
    """What the unit asks; this machine's own hard limit where it may not be raised."""
    number = resource.RLIM_INFINITY if given == NO_LIMIT else given
    soft, hard = otherwise if number is None else (number, number)
    try:
        resource.setrlimit(kind, (soft, hard))
    except ValueError:
        most = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (soft if 0 <= soft < most else most, most))

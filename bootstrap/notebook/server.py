"""One user's notebook: started, looked at, started again within bounds, ended with all its processes."""

from __future__ import annotations

import secrets
import signal
import subprocess
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bootstrap.launch.cage import Cage, Cages
from bootstrap.launch.logs import JobLog, RotatingFile
from bootstrap.notebook.command import arguments, config_text, environment
from bootstrap.notebook.place import lay
from bootstrap.notebook.restarts import pause_s
from bootstrap.people.accounts import Login
from bootstrap.storage.waiting import Clock
from nightshift.records.notebook import Notebook

TOKEN_BYTES = 32
KILL_S = 5.0
LOG_BYTES, LOG_FILES = 8 << 20, 3
OOM_SCORE = "500"


@dataclass(frozen=True)
class Shared:
    """What all notebooks of a node have in common. `folder` is in memory, `logs` can be read by root only."""

    python: Path
    region: str
    folder: Path
    logs: Path
    cages: Cages
    clock: Clock
    say: Callable[[str], None]


class Server:
    """One notebook. Only one thread at a time may call it."""

    def __init__(self, login: Login, port: int, shared: Shared) -> None:
        self._login, self._port, self._shared = login, port, shared
        self._token = secrets.token_urlsafe(TOKEN_BYTES)
        self._process: subprocess.Popen[bytes] | None = None
        self._cage: Cage | None = None
        self._ends: list[float] = []
        self._next_at: float | None = shared.clock.now()
        self._last: deque[str] = deque(maxlen=3)
        file = RotatingFile(shared.logs / f"{login.name}.log", LOG_BYTES, LOG_FILES)
        self._log = JobLog(file, (self._last.append,), lambda _line: None)
        self._log.hide((self._token,))
        self._problem = ""

    @property
    def record(self) -> Notebook:
        """How it's reached."""
        return Notebook(self._login.name, self._port, self._token, self._problem)

    @property
    def runs(self) -> bool:
        """Whether its process does."""
        return self._process is not None and self._process.poll() is None

    @property
    def due(self) -> bool:
        """Whether it's to be started now."""
        return self._next_at is not None and self._shared.clock.now() >= self._next_at

    def look(self) -> None:
        """See whether it has ended, and when it's to start again."""
        process = self._process
        if process is None or (code := process.poll()) is None:
            return
        self._process = None
        self._sweep()
        last = " / ".join(self._last)
        self._ended(f"ended with {code}" + (f": {last}" if last else ""))

    def start(self) -> None:
        """Start it. What can't be is told as an end at once."""
        shared, login = self._shared, self._login
        self._next_at = None
        self._last.clear()
        try:
            shared.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
            files = lay(shared.folder, login, config_text(login, self._port, self._token))
            cage = self._cage = shared.cages.new()
            given = environment(shared.python, login, shared.region, files.runtime)
            self._process = subprocess.Popen(
                cage.command(arguments(shared.python, login, files.config)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**given, **cage.environment()},
                cwd=login.home,
                start_new_session=True,
            )
        except OSError as error:
            self._ended(f"can't be started: {error}")
            return
        _first_to_go(self._process.pid)
        if self._process.stdout is not None:
            self._log.listen(self._process.stdout)
        shared.say(f"notebook of {login.name}: started, port {self._port}")

    def ask_to_end(self) -> None:
        """SIGTERM: it interrupts and ends its kernels, then itself. By SIGINT it would ask back first."""
        self._next_at = None
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def close(self) -> None:
        """Its log is written, as far as that goes soon."""
        self._log.close(1.0)

    def _ended(self, why: str) -> None:
        now = self._shared.clock.now()
        self._ends.append(now)
        pause = pause_s(self._ends, now)
        if pause is None:
            self._problem = f"given up, {why}"
            self._shared.say(f"notebook of {self._login.name}: {why}; given up, what else runs goes on")
            return
        self._next_at = now + pause
        self._shared.say(f"notebook of {self._login.name}: {why}; started again in {pause:g} s")

    def _sweep(self) -> None:
        """Kernels that their server has left behind."""
        if self._cage is not None and (left := self._cage.kill(KILL_S)):
            pids = ", ".join(map(str, left))
            self._shared.say(f"notebook of {self._login.name}: the kernel holds processes {pids}")


def _first_to_go(pid: int) -> None:
    """Where memory runs out the kernel takes a notebook and its kernels before the job (proc(5))."""
    with suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text(OOM_SCORE, encoding="ascii")

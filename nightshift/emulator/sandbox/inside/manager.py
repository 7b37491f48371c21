"""What systemd does for a node: its units, enabled and masked ones, and `systemctl`'s verbs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from nightshift.emulator.sandbox.inside.running import Running
from nightshift.emulator.sandbox.inside.units import Ended, UnitError, service

UNITS = Path("/etc/systemd/system")
WANTS = UNITS / "multi-user.target.wants"
NOT_LOADED, NOT_FOUND, FAILED = 5, 4, 1
"""systemctl's exit codes."""
Answer = tuple[int, str, str]
"""Exit code, standard output, standard error."""


class Manager:
    """Units below UNITS. `image`: units that the image has and that run nothing here, with their ActiveState.

    `environment`: what every service gets (systemd's DefaultEnvironment). `note` hears each event.
    `power_off` is called with the reason when a unit asks for it by FailureAction.
    """

    def __init__(
        self,
        image: Mapping[str, str],
        environment: Mapping[str, str],
        journal: int,
        note: Callable[[str], None],
        power_off: Callable[[str], None],
    ) -> None:
        self._image, self._power_off = dict(image), power_off
        self._environment, self._journal, self._note = dict(environment), journal, note
        self._running: dict[str, Running] = {}

    def boot(self) -> None:
        """Start what is enabled, in the order of names."""
        for link in sorted(WANTS.glob("*.service")) if WANTS.is_dir() else []:
            self._begin(link.name)

    def begin(self, running: Running) -> None:
        """Start a service that no file describes."""
        self._running[running.service.name] = running
        self._start(running)

    def _begin(self, name: str) -> Answer:
        if self._masked(name):
            return FAILED, "", f"Failed to start {name}: Unit {name} is masked.\n"
        try:
            found = service(name, (UNITS / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return NOT_LOADED, "", f"Failed to start {name}: Unit {name} not found.\n"
        except UnitError as error:
            self._note(f"{name}: {error}")
            return FAILED, "", f"Failed to start {name}: {error}\n"
        running = self._running.setdefault(name, Running(found))
        running.service = found
        if not running.pid:
            self._start(running)
        return 0, "", ""

    def _start(self, running: Running) -> None:
        name = running.service.name
        if running.limited():
            running.state, running.again_at = "failed", None
            self._note(f"{name}: started too often")
            self._failed(running)
            return
        log = os.open(f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644, dir_fd=self._journal)
        try:
            running.start(self._environment, log)
        finally:
            os.close(log)
        self._note(f"{name}: started ({running.started})")

    def ended(self, pid: int, how: Ended) -> None:
        """A child has ended; most are nobody's main process."""
        for running in self._running.values():
            if running.pid == pid:
                state = running.ended(how)
                self._note(f"{running.service.name}: {how.words}, {state}")
                if state == "failed":
                    self._failed(running)
                if running.start_after:
                    running.start_after = False
                    self._start(running)

    def _failed(self, running: Running) -> None:
        if running.service.failure_action == "poweroff":
            self._power_off(f"FailureAction of {running.service.name}")

    def due(self) -> float | None:
        """Seconds until something is to be done, None when nothing is."""
        now = time.monotonic()
        times = [
            at for each in self._running.values() for at in (each.again_at, each.kill_at) if at is not None
        ]
        return max(0.0, min(times) - now) if times else None

    def tick(self) -> None:
        """Do what is due."""
        now = time.monotonic()
        for running in self._running.values():
            if running.again_at is not None and running.again_at <= now:
                self._start(running)
            if running.kill_at is not None and running.kill_at <= now:
                self._note(f"{running.service.name}: killed at TimeoutStopSec")
                running.kill()

    def stop_all(self) -> None:
        """The machine goes down."""
        for running in self._running.values():
            running.stop()

    @property
    def stopped(self) -> bool:
        """Whether no service runs."""
        return not any(each.pid for each in self._running.values())

    def asked(self, words: Sequence[str]) -> Answer:
        """`systemctl WORDS`, without waiting."""
        options = [word for word in words if word.startswith("-")]
        verb, *names = [word for word in words if not word.startswith("-")] or [""]
        if verb == "daemon-reload":
            return 0, "", ""
        if verb == "show":
            return self._show(names, options)
        act = {
            "start": self._begin, "stop": self._stop, "restart": self._restart, "enable": self._enable,
            "disable": self._disable, "mask": self._mask, "unmask": self._unmask, "is-active": self._active,
        }.get(verb)  # fmt: skip
        if act is None:
            return FAILED, "", f"Unknown command verb '{verb}'.\n"
        answers = [act(name) for name in names]
        return (
            max(each[0] for each in answers),
            "".join(a[1] for a in answers),
            "".join(a[2] for a in answers),
        )

    def settled(self, name: str) -> bool:
        """Whether a unit is neither on its way up nor down."""
        running = self._running.get(name)
        return running is None or running.state != "deactivating"

    def _stop(self, name: str) -> Answer:
        if name in self._running:
            self._running[name].stop()
        elif name in self._image:
            self._image[name] = "inactive"
        else:
            return NOT_LOADED, "", f"Failed to stop {name}: Unit {name} not loaded.\n"
        return 0, "", ""

    def _restart(self, name: str) -> Answer:
        running = self._running.get(name)
        if running is None or not running.pid:
            return self._begin(name)
        running.stop()
        running.start_after = True
        return 0, "", ""

    def _enable(self, name: str) -> Answer:
        if not (UNITS / name).exists():
            return FAILED, "", f"Failed to enable unit: Unit file {name} does not exist.\n"
        WANTS.mkdir(parents=True, exist_ok=True)
        link = WANTS / name
        if not link.is_symlink():
            link.symlink_to(UNITS / name)
        return 0, "", f"Created symlink {link} → {UNITS / name}.\n"

    def _disable(self, name: str) -> Answer:
        (WANTS / name).unlink(missing_ok=True)
        return 0, "", ""

    def _mask(self, name: str) -> Answer:
        UNITS.mkdir(parents=True, exist_ok=True)
        path = UNITS / name
        if path.exists() and not path.is_symlink():
            return FAILED, "", f"Failed to mask unit: File {path} already exists.\n"
        path.unlink(missing_ok=True)
        path.symlink_to("/dev/null")
        return 0, "", ""

    def _unmask(self, name: str) -> Answer:
        if self._masked(name):
            (UNITS / name).unlink()
        return 0, "", ""

    def _masked(self, name: str) -> bool:
        path = UNITS / name
        return path.is_symlink() and str(path.readlink()) == "/dev/null"

    def _active(self, name: str) -> Answer:
        state = self._state(name)
        return (0 if state == "active" else 3), f"{state}\n", ""

    def _state(self, name: str) -> str:
        if name in self._running:
            return self._running[name].state
        return self._image.get(name, "inactive")

    def _show(self, names: Sequence[str], options: Sequence[str]) -> Answer:
        asked = next((each.partition("=")[2] for each in options if each.startswith("--property=")), "")
        blocks = []
        for name in names:
            known = name in self._running or name in self._image or (UNITS / name).exists()
            load = "masked" if self._masked(name) else "loaded" if known else "not-found"
            told = {"Id": name, "LoadState": load, "ActiveState": self._state(name)}
            keys = [key for key in (asked.split(",") if asked else told) if key in told]
            bare = "--value" in options
            blocks.append("".join(f"{told[key]}\n" if bare else f"{key}={told[key]}\n" for key in keys))
        return 0, "\n".join(blocks), ""

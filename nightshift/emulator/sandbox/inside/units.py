"""systemd service units as text: what they say, and when systemd would start a service again. Pure."""

from __future__ import annotations

import re
import shlex
import signal
from dataclasses import dataclass, field

SECTIONS = {
    "Unit": {"Description", "Documentation", "Wants", "Requires", "After", "Before", "StartLimitIntervalSec",
             "StartLimitBurst", "FailureAction"},
    "Service": {"Type", "WorkingDirectory", "Environment", "ExecStart", "Restart", "RestartSec", "KillMode",
                "RestartPreventExitStatus", "TimeoutStopSec", "Delegate", "LimitNOFILE", "LimitMEMLOCK",
                "TasksMax", "OOMPolicy"},
    "Install": {"WantedBy"},
}  # fmt: skip
"""What is understood. A unit that says anything else is refused, rather than half obeyed."""
CLEAN_SIGNALS = {signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE}
UNITS_S = {"": 1.0, "s": 1.0, "sec": 1.0, "ms": 0.001, "min": 60.0, "m": 60.0, "h": 3600.0}
NO_LIMIT = -1
ACTIONS = ("none", "poweroff")
_SPAN = re.compile(r"([\d.]+)\s*([a-z]*)")


class UnitError(ValueError):
    """A unit that can't be run as it stands."""


@dataclass(frozen=True)
class Service:
    """One service. Times in seconds; a limit of NO_LIMIT is none."""

    name: str
    command: tuple[str, ...]
    folder: str = "/"
    environment: dict[str, str] = field(default_factory=dict)
    type: str = "simple"
    restart: str = "no"
    restart_s: float = 0.1
    prevent: frozenset[int] = frozenset()
    kill_mode: str = "control-group"
    stop_s: float = 90.0
    open_files: int | None = None
    locked_memory: int | None = None
    burst: int = 5
    interval_s: float = 10.0
    failure_action: str = "none"
    wanted_by: tuple[str, ...] = ()

    def starts_again(self, ended: Ended) -> bool:
        """Whether systemd starts it again after this end, none having asked for it."""
        if ended.code in self.prevent or self.restart == "no":
            return False
        return self.restart == "always" or not ended.clean


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, or the signal that killed it."""

    code: int | None
    signal: int | None = None

    @property
    def clean(self) -> bool:
        """As systemd sees it."""
        return self.code == 0 or self.signal in CLEAN_SIGNALS

    @property
    def words(self) -> str:
        """For people."""
        return f"exit code {self.code}" if self.signal is None else signal.Signals(self.signal).name


def seconds(text: str) -> float:
    """A time span such as `1min 30s`; infinity for no end. Raises UnitError."""
    if text == "infinity":
        return float("inf")
    parts = _SPAN.findall(text)
    if not parts or _SPAN.sub("", text).strip() or any(unit not in UNITS_S for _, unit in parts):
        raise UnitError(f"no time span: {text!r}")
    return sum(float(number) * UNITS_S[unit] for number, unit in parts)


def limit(text: str) -> int:
    """A resource limit. Raises UnitError."""
    if text == "infinity":
        return NO_LIMIT
    if not text.isdigit():
        raise UnitError(f"no limit: {text!r}")
    return int(text)


def parse(text: str) -> dict[str, list[str]]:
    """`Section.Key` to its values in order; an empty value forgets those before. Raises UnitError."""
    found: dict[str, list[str]] = {}
    section = ""
    for line in text.replace("\\\n", " ").splitlines():
        line = line.strip()
        if not line or line[0] in "#;":
            continue
        if line[0] == "[" and line[-1] == "]":
            section = line[1:-1]
            continue
        key, equals, value = line.partition("=")
        if not equals or key.strip() not in SECTIONS.get(section, ()):
            raise UnitError(f"not understood here: [{section}] {line}")
        values = found.setdefault(f"{section}.{key.strip()}", [])
        if value.strip():
            values.append(value.strip())
        else:
            values.clear()
    return found


def service(name: str, text: str) -> Service:
    """The service that a unit file describes. Raises UnitError."""
    said = parse(text)

    def last(key: str, otherwise: str) -> str:
        return (said.get(key) or [otherwise])[-1]

    commands = said.get("Service.ExecStart", [])
    if len(commands) != 1:
        raise UnitError(f"{name}: one ExecStart= is needed, there are {len(commands)}")
    action = last("Unit.FailureAction", "none")
    if action not in ACTIONS:
        raise UnitError(f"{name}: FailureAction={action} isn't understood here")
    words = [word for line in said.get("Service.Environment", []) for word in shlex.split(line)]
    files, memory = last("Service.LimitNOFILE", ""), last("Service.LimitMEMLOCK", "")
    return Service(
        name=name,
        command=tuple(shlex.split(commands[0])),
        folder=last("Service.WorkingDirectory", "/"),
        environment={key: value for key, _, value in (word.partition("=") for word in words)},
        type=last("Service.Type", "simple"),
        restart=last("Service.Restart", "no"),
        restart_s=seconds(last("Service.RestartSec", "100ms")),
        prevent=frozenset(int(code) for code in last("Service.RestartPreventExitStatus", "").split()),
        kill_mode=last("Service.KillMode", "control-group"),
        stop_s=seconds(last("Service.TimeoutStopSec", "90s")),
        open_files=limit(files) if files else None,
        locked_memory=limit(memory) if memory else None,
        burst=int(last("Unit.StartLimitBurst", "5")),
        interval_s=seconds(last("Unit.StartLimitIntervalSec", "10s")),
        failure_action=action,
        wanted_by=tuple(word for line in said.get("Install.WantedBy", []) for word in line.split()),
    )

"""Where a node's storage lives and how long each wait may take. Tests and the rehearsal give other roots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bootstrap.commands import Ran, run
from bootstrap.storage.waiting import Clock, Heartbeat, silent

Run = Callable[[list[str], float], Ran]


@dataclass(frozen=True)
class Roots:
    """The roots of the machine's trees, and where volumes are mounted: `data`/NAME."""

    dev: Path = Path("/dev")
    sys: Path = Path("/sys")
    proc: Path = Path("/proc")
    data: Path = Path("/data")


@dataclass(frozen=True)
class Waits:
    """Seconds. `claim_s` is for the old node's drain, a volume each; `denied_s` for IAM to become
    consistent after the first boot. A spot drain takes `term_s`, `kill_s` and `detach_s` shorter."""

    claim_s: float = 900
    attach_s: float = 120
    denied_s: float = 120
    device_s: float = 60
    probe_s: float = 60
    format_s: float = 300
    check_s: float = 600
    mount_s: float = 120
    grow_s: float = 300
    sync_s: float = 120
    term_s: float = 10
    kill_s: float = 5
    umount_s: float = 60
    detach_s: float = 120
    poll_s: float = 2
    device_poll_s: float = 0.2


@dataclass(frozen=True)
class Place:
    """One node: its instance id, zone, roots, waits, and who hears that it still works."""

    instance: str
    zone: str
    roots: Roots = field(default_factory=Roots)
    waits: Waits = field(default_factory=Waits)
    heartbeat: Heartbeat = silent
    run: Run = run
    clock: Clock = field(default_factory=Clock)

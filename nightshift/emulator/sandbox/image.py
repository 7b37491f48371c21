"""What a node's image brings beside this machine's own root: its Python, its units, and stand-ins."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

INSIDE = Path(__file__).resolve().parent / "inside"
UPGRADES = ("apt-daily.timer", "apt-daily-upgrade.timer", "unattended-upgrades.service")
CLOUD_INIT_S = 120.0


def _stand_in(name: str, *words: str) -> str:
    """A program that runs one of ours."""
    command = " ".join([sys.executable, "-S", "-E", str(INSIDE / name), *words])
    return f'#!/bin/sh\nexec {command} "$@"\n'


@dataclass
class Image:
    """Change it before the node starts.

    `python`: what `python3` is, None for none; `units`: what the image has installed, with ActiveState;
    `environment`: what every service gets beside PATH; `programs` (executable), `files`, `links` by path.
    `cloud_init_s`: how long cloud-init waits for the metadata service.
    """

    python: Path | None = field(default_factory=lambda: Path(sys.executable).resolve())
    units: dict[str, str] = field(default_factory=lambda: dict.fromkeys(UPGRADES, "active"))
    environment: dict[str, str] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    cloud_init_s: float = CLOUD_INIT_S

    def plan(self) -> dict[str, Any]:
        """For pid 1."""
        own = {
            "/usr/local/sbin/systemctl": _stand_in("systemctl.py"),
            "/usr/local/sbin/systemctl.manager": _stand_in("systemctl.py"),
            "/usr/local/sbin/poweroff": _stand_in("systemctl.py", "poweroff"),
        }
        python = {"/usr/local/bin/python3": str(self.python)} if self.python else {}
        cloud_init = [sys.executable, "-S", "-E", str(INSIDE / "cloud_init.py"), str(self.cloud_init_s)]
        return {
            "programs": {**own, **self.programs},
            "files": self.files,
            "links": {**python, **self.links},
            "image": self.units,
            "environment": self.environment,
            "cloud_init": cloud_init,
        }

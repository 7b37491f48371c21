"""Installs the agent as a systemd unit that runs on every boot, from the folder it was unpacked to."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

UNIT = "nightshift.service"
UNITS_FOLDER = Path("/etc/systemd/system")
GIVEN_UP = 78
"""Exit code when starting again would change nothing (EX_CONFIG); the node turns itself off."""

_TEXT = """[Unit]
Description=Nightshift node agent
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0
FailureAction=poweroff

[Service]
Type=exec
WorkingDirectory={folder}
Environment=PYTHONPATH={folder} PYTHONTZPATH= PYTHONUNBUFFERED=1
ExecStart={python} -m bootstrap start --node {node}
Restart=on-failure
RestartSec=5
RestartPreventExitStatus={given_up}
KillMode=mixed
TimeoutStopSec=110
Delegate=yes
LimitNOFILE=524288
LimitMEMLOCK=infinity
TasksMax=infinity
OOMPolicy=continue

[Install]
WantedBy=multi-user.target
"""


def unit_text(python: str, folder: Path, node: Path) -> str:
    """The unit. Zone rules come from the artifact, so that node and laptop read shifts alike.

    KillMode=mixed lets the agent end the job itself; TimeoutStopSec lies within a spot notice's 120 s. The
    limits are the job's too: many data loaders, memory that EFA pins. A job that runs out of memory is the
    agent's to judge (OOMPolicy).
    """
    return _TEXT.format(python=python, folder=folder, node=node, given_up=GIVEN_UP)


def run(command: Sequence[str]) -> None:
    """Run it; raises CalledProcessError."""
    subprocess.run(command, check=True)


def install(
    python: str,
    folder: Path,
    node: Path,
    units: Path = UNITS_FOLDER,
    call: Callable[[Sequence[str]], None] = run,
) -> None:
    """Write the unit, enable it for every boot, start it now. Raises OSError or CalledProcessError.

    `--no-block`: cloud-init is itself part of the boot that the unit's targets wait for.
    """
    units.mkdir(parents=True, exist_ok=True)
    (units / UNIT).write_text(unit_text(python, folder, node), encoding="utf-8")
    call(("systemctl", "daemon-reload"))
    call(("systemctl", "enable", UNIT))
    call(("systemctl", "restart", "--no-block", UNIT))

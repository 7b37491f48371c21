"""What a notebook is started with: its arguments, environment and configuration. Pure.

The token stands in the configuration alone, a file that only its user and root can read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from bootstrap.people.accounts import SHELL, Login

ADDRESS = "127.0.0.1"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def arguments(python: Path, login: Login, config: Path) -> list[str]:
    """By the user's own number and groups. `-I`: no module in a home, nor a package of the user's own, gets
    between the server and its libraries; kernels start without it."""
    who = ["setpriv", f"--reuid={login.uid}", f"--regid={login.uid}", "--init-groups"]
    return [*who, str(python), "-I", "-m", "jupyterlab", f"--config={config}"]


def environment(python: Path, login: Login, region: str, runtime: Path) -> dict[str, str]:
    """Nothing of the agent's own. `runtime`: where the server and its kernels meet."""
    return {
        "PATH": f"{python.parent}:{_PATH}",
        "HOME": str(login.home),
        "USER": login.name,
        "LOGNAME": login.name,
        "SHELL": SHELL,
        "LANG": "C.UTF-8",
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "JUPYTER_RUNTIME_DIR": str(runtime),
    }


def config_text(login: Login, port: int, token: str) -> str:
    """Of Jupyter Server 2 and JupyterLab 4.

    No other port than the told one. Kernels by sockets in the user's own folder: by TCP anybody on the node
    could read what a kernel says. Nothing of it asks the internet; what lies in the runtime is sealed, so
    there's nothing to install from within.
    """
    whole: Mapping[str, Mapping[str, object]] = {
        "ServerApp": {
            "ip": ADDRESS,
            "port": port,
            "port_retries": 0,
            "open_browser": False,
            "root_dir": str(login.home),
        },
        "IdentityProvider": {"token": token},
        "PasswordIdentityProvider": {"allow_password_change": False},
        "KernelManager": {"transport": "ipc"},
        "LabApp": {
            "news_url": None,
            "check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
            "extension_manager": "readonly",
        },
    }
    return json.dumps(whole, indent=1, sort_keys=True) + "\n"

"""The environment of an engine that must reach the emulated AWS and nothing else."""

from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from nightshift.emulator.engine import lifeline
from nightshift.emulator.engine.errors import WorkspaceError
from nightshift.emulator.engine.toolchain import Toolchain

PASSPHRASE = "nightshift-emulator"
"""Of the emulator's own throw-away state; it protects nothing."""

_DROPPED_PREFIXES = ("AWS_", "PULUMI_", "OTEL_", "TF_")
_DROPPED = ("PYTHONDONTWRITEBYTECODE", "PYTHONHOME", "VIRTUAL_ENV")


def engine_environment(
    base: Mapping[str, str], toolchain: Toolchain, folder: Path, python: Path, endpoint: str
) -> dict[str, str]:
    """`base` without anything that leads to a real account, a service of Pulumi's or another Python."""
    kept = {
        name: value
        for name, value in base.items()
        if not name.startswith(_DROPPED_PREFIXES) and name not in _DROPPED
    }
    return {
        **kept,
        **_pulumi(folder),
        **aws_environment(endpoint),
        "PATH": _path(base.get("PATH", ""), toolchain, folder, python),
    }


def emulated(endpoint: str) -> str:
    """The endpoint, if it is on this machine. Raises WorkspaceError for others: one could be real."""
    host = urlsplit(endpoint).hostname or ""
    if host != "localhost" and not _is_loopback(host):
        raise WorkspaceError(f"endpoint {endpoint}: not on this machine (expected http://127.0.0.1:PORT)")
    return endpoint


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def aws_environment(endpoint: str) -> dict[str, str]:
    """What makes boto3 and the provider alike speak to `endpoint`, with credentials of no worth."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    }


def _pulumi(folder: Path) -> dict[str, str]:
    """`metadata=skip`: the file backend's side files are not written in one step; a kill in the middle leaves
    a state that cannot be read ("failed to load checkpoint: EOF")."""
    return {
        "PULUMI_HOME": str(folder / "home"),
        "PULUMI_BACKEND_URL": f"{(folder / 'state').as_uri()}?metadata=skip",
        "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_DEBUG_COMMANDS": "true",
        "PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS": "true",
    }


def _path(path: str, toolchain: Toolchain, folder: Path, python: Path) -> str:
    """Our `python3`, the venv's tools, the language host, then what was there."""
    return ":".join([str(folder / "bin"), str(python.parent), str(toolchain.language_folder), path])


def python_shim(python: Path) -> str:
    """A `python3` that runs the product's own, and answers at once that no package brings a plugin.

    The language host asks `pip list` before every operation, which takes seconds. The engine attaches to a
    running provider here, so the answer is not needed.
    """
    return f"""#!/bin/sh
case "$1 $2 $3" in
"-m pip list") echo '[]' ;;
*) exec {lifeline.words([str(python)])} "$@" ;;
esac
"""

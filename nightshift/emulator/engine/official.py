"""The official Pulumi CLI and its AWS plugin, where this machine has them or can install them."""

import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from nightshift.emulator.engine.modules import CLI_VERSION, LANGUAGE, cache_root
from nightshift.emulator.engine.progress import Say, ticking

OLDEST_CLI = (3, 200, 0)
"""The oldest CLI that is trusted with the flags of this room; 3.274.1 is the one that is tested."""

_RETRY_AFTER_S = 24 * 3600
_INSTALL_LIMIT_S = 900


@dataclass(frozen=True)
class OfficialCli:
    """A pulumi binary with its Python language host beside it or on PATH."""

    path: Path
    version: str


def find_cli(environment: Mapping[str, str] = os.environ) -> OfficialCli | None:
    """The CLI on PATH, when it is new enough and its Python language host is there too."""
    path = environment.get("PATH", "")
    binary = shutil.which("pulumi", path=path)
    if binary is None:
        return None
    beside = Path(binary).resolve().parent
    if shutil.which(LANGUAGE.name, path=f"{beside}{os.pathsep}{path}") is None:
        return None
    told = _output([binary, "version"], environment).strip().removeprefix("v")
    return OfficialCli(Path(binary), told) if _numbers(told) >= OLDEST_CLI else None


def find_plugin(
    cli: OfficialCli, say: Say, environment: Mapping[str, str] = os.environ
) -> tuple[Path | None, str]:
    """The home whose plugins folder holds the SDK's own AWS plugin, installed if need be; or why not."""
    wanted = version("pulumi-aws")
    own_home = cache_root(environment) / "engine" / f"plugins-{CLI_VERSION}"
    user_home = Path(environment.get("PULUMI_HOME") or "~/.pulumi").expanduser()
    for home in (user_home, own_home):
        if (home / "plugins" / f"resource-aws-v{wanted}" / "pulumi-resource-aws").is_file():
            return home, ""
    refused = own_home / f"refused-{wanted}"
    if refused.is_file() and time.time() - refused.stat().st_mtime < _RETRY_AFTER_S:
        return None, refused.read_text(encoding="utf-8")
    return _install(cli, wanted, own_home, refused, say)


def _install(cli: OfficialCli, wanted: str, home: Path, refused: Path, say: Say) -> tuple[Path | None, str]:
    home.mkdir(parents=True, exist_ok=True)
    command = [str(cli.path), "plugin", "install", "resource", "aws", wanted, "--non-interactive"]
    environment = {**os.environ, "PULUMI_HOME": str(home), "PULUMI_SKIP_UPDATE_CHECK": "true"}
    with ticking(say, f"installing the official AWS plugin {wanted}", 60):
        try:
            done = subprocess.run(
                command,
                env=environment,
                capture_output=True,
                text=True,
                timeout=_INSTALL_LIMIT_S,
                check=False,
            )
            why = done.stderr.strip().splitlines()[-1:] if done.returncode else []
        except subprocess.TimeoutExpired:
            why = [f"no answer in {_INSTALL_LIMIT_S} s"]
    if (home / "plugins" / f"resource-aws-v{wanted}" / "pulumi-resource-aws").is_file():
        return home, ""
    reason = f"the official AWS plugin {wanted} could not be installed: {' '.join(why) or 'unknown reason'}"
    refused.write_text(reason, encoding="utf-8")
    return None, reason


def _output(command: list[str], environment: Mapping[str, str]) -> str:
    quiet = {**environment, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        done = subprocess.run(command, env=quiet, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def _numbers(told: str) -> tuple[int, ...]:
    parts = told.split("-")[0].split("+")[0].split(".")
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()

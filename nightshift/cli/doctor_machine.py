"""What this machine has: Python, Pulumi, Go, Git, the AWS CLI and its plugin for sessions."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from nightshift.cli.finding import Finding

_SECONDS = 20


def machine(env: Mapping[str, str], which: Callable[[str], str | None] = shutil.which) -> list[Finding]:
    """Findings that need no network."""
    return [_python(sys.version_info[:2]), *_engine(env, which), _git(which), *_aws(which)]


def _python(version: tuple[int, ...]) -> Finding:
    said = platform.python_version()
    if version >= (3, 11):
        return Finding("ok", "python", said)
    return Finding("fail", "python", said, "install Python 3.11 or newer")


def _engine(env: Mapping[str, str], which: Callable[[str], str | None]) -> list[Finding]:
    pulumi, go = which("pulumi"), which("go")
    if pulumi:
        return [Finding("ok", "pulumi", _version([pulumi, "version"])), _plugin(env)]
    if go:
        says = f"not installed; rehearsals build their own engine with {_version([go, 'version'])}"
        return [Finding("warn", "pulumi", says, "to deploy to AWS, install the Pulumi CLI, 3.200 or newer")]
    todo = "install the Pulumi CLI; for rehearsals without it, Go 1.24 or newer"
    return [Finding("fail", "pulumi", "neither Pulumi nor Go is installed", todo)]


def _plugin(env: Mapping[str, str]) -> Finding:
    home = Path(env.get("PULUMI_HOME") or Path(env.get("HOME", "/")) / ".pulumi")
    found = sorted(path.name for path in (home / "plugins").glob("resource-aws-v7.*") if path.is_dir())
    if found:
        return Finding("ok", "aws provider", found[-1].removeprefix("resource-aws-"))
    return Finding("warn", "aws provider", "no plugin of version 7 yet", "the first `pulumi up` fetches it")


def _git(which: Callable[[str], str | None]) -> Finding:
    git = which("git")
    if git:
        return Finding("ok", "git", _version([git, "--version"]))
    return Finding("warn", "git", "not installed", "install it to keep stack files under version control")


def _aws(which: Callable[[str], str | None]) -> list[Finding]:
    aws, plugin = which("aws"), which("session-manager-plugin")
    login = "install it to log in by SSO and to reach nodes by SSM"
    reach = "install the Session Manager plugin: `nightshift connect` needs it"
    return [
        aws_cli(_version([aws, "--version"])) if aws else Finding("warn", "aws cli", "not installed", login),
        Finding("ok", "session plugin", _version([plugin, "--version"]))
        if plugin
        else Finding("warn", "session plugin", "not installed", reach),
    ]


def aws_cli(version: str) -> Finding:
    """By what it says of itself, such as `aws-cli/2.31.0 Python/3.13.7 ...`."""
    if version.startswith("aws-cli/1."):
        return Finding("warn", "aws cli", version, "install version 2: version 1 logs in by no SSO session")
    return Finding("ok", "aws cli", version)


def _version(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{command[0]} doesn't answer: {error}"
    return (done.stdout or done.stderr).strip().splitlines()[0] if done.stdout or done.stderr else "installed"

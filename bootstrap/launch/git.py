"""git's own command, with a deadline, and credentials where no list of processes and no log shows them."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from bootstrap.launch.secrets import GIT_SSH_KEY, GIT_TOKEN, GIT_USERNAME

_ASK = """#!/bin/sh
case "$1" in
Username*) printf '%s\\n' "$NIGHTSHIFT_GIT_USERNAME" ;;
*) printf '%s\\n' "$NIGHTSHIFT_GIT_TOKEN" ;;
esac
"""
_TICK_S = 0.2
_SETTINGS = """[safe]
	directory = *
[credential]
	helper =
[http]
	lowSpeedLimit = 1000
	lowSpeedTime = 60
[advice]
	detachedHead = false
[core]
	fsmonitor = false
"""
"""A file, not variables: those don't reach the other end when the repository is a folder on a volume."""


class GitFailed(Exception):
    """What git said, without credentials."""


class Stopped(Exception):
    """It was wanted no more."""


@dataclass(frozen=True)
class Credentials:
    """For one repository; either may be empty."""

    username: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    ssh_key: str = field(default="", repr=False)


def without_credentials(url: str, secrets: Mapping[str, str]) -> tuple[str, Credentials]:
    """The URL as it may be shown, and what was in it or in the secrets."""
    username, token = secrets.get(GIT_USERNAME, ""), secrets.get(GIT_TOKEN, "")
    if url.startswith("https://"):
        parts = urlsplit(url)
        inside, at, host = parts.netloc.rpartition("@")
        if at:
            name, _, word = inside.partition(":")
            username, token = username or unquote(name), token or unquote(word)
            url = urlunsplit(parts._replace(netloc=host))
    return url, Credentials(username or "x-access-token", token, secrets.get(GIT_SSH_KEY, ""))


class Git:
    """Runs git for one repository. `scratch` holds a helper and, for ssh, a key; they're taken away again."""

    def __init__(
        self,
        scratch: Path,
        credentials: Credentials,
        now: Callable[[], float],
        limit_s: float,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._scratch = scratch
        self._credentials = credentials
        self._now = now
        self._until = now() + limit_s
        self._stopped = stopped

    def __enter__(self) -> Git:
        self._scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._write("ask", _ASK, stat.S_IRWXU)
        self._write(".gitconfig", _SETTINGS, stat.S_IRUSR | stat.S_IWUSR)
        if self._credentials.ssh_key:
            self._write("key", self._credentials.ssh_key.rstrip("\n") + "\n", stat.S_IRUSR | stat.S_IWUSR)
        return self

    def __exit__(self, *_: object) -> None:
        for name in ("ask", "key"):
            (self._scratch / name).unlink(missing_ok=True)

    def __call__(self, folder: Path, *words: str) -> str:
        """What it printed. Raises GitFailed, also when the time for all of them is over; Stopped."""
        try:
            process = subprocess.Popen(
                ["git", "-C", str(folder), *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._environment(),
                start_new_session=True,
            )
        except FileNotFoundError:
            raise GitFailed("git isn't installed on this image") from None
        out, err = self._wait(process, words[0])
        if process.returncode:
            raise GitFailed(f"git {words[0]}: {self._shown(err)}")
        return out.decode("utf-8", "replace")

    def _wait(self, process: subprocess.Popen[bytes], word: str) -> tuple[bytes, bytes]:
        while True:
            try:
                return process.communicate(timeout=_TICK_S)
            except subprocess.TimeoutExpired:
                stopped, late = self._stopped(), self._now() > self._until
                if stopped or late:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.communicate()
                    if stopped:
                        raise Stopped(word) from None
                    raise GitFailed(f"git {word}: not done in time") from None

    def _write(self, name: str, text: str, mode: int) -> None:
        path = self._scratch / name
        path.unlink(missing_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)

    def _environment(self) -> dict[str, str]:
        """Nobody's configuration, no prompt."""
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self._scratch),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
        }
        if self._credentials.token:
            environment |= {
                "GIT_ASKPASS": str(self._scratch / "ask"),
                "NIGHTSHIFT_GIT_USERNAME": self._credentials.username,
                "NIGHTSHIFT_GIT_TOKEN": self._credentials.token,
            }
        key = f"-i {self._scratch / 'key'} -o IdentitiesOnly=yes " if self._credentials.ssh_key else ""
        known = self._scratch / "known_hosts"
        environment["GIT_SSH_COMMAND"] = (
            f"ssh {key}-o BatchMode=yes -o ConnectTimeout=20 -o StrictHostKeyChecking=accept-new "
            f"-o UserKnownHostsFile={known}"
        )
        return environment

    def _shown(self, data: bytes) -> str:
        text = data.decode("utf-8", "replace").strip()
        for word in (self._credentials.token, quote(self._credentials.token, safe="")):
            text = text.replace(word, "********") if word else text
        text = re.sub(r"(?<=://)[^/@\s]+@", "", text)
        return " / ".join(text.splitlines()[-3:]) or "no words"


def is_commit(ref: str) -> bool:
    """7 to 40 of 0-9 and a-f: what the stack file takes as a commit."""
    return re.fullmatch(r"[0-9a-f]{7,40}", ref) is not None

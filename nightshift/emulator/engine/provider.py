"""The provider process of a workspace: one for all its operations, started anew when it died."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nightshift.emulator.engine.errors import ProviderError
from nightshift.emulator.engine.toolchain import Toolchain

_SHOWN_LINES = 5
_DEEPEST = 107 - len("/plugin4294967295")
"""Bytes of a folder whose sockets can still be named: sun_path holds 108 with its final zero."""


@dataclass(frozen=True)
class ProviderPids:
    """Process ids of the proxy, the bridge and the Terraform provider."""

    proxy: int
    bridge: int
    terraform: tuple[int, ...]


class Provider:
    """Holds the proxy's process. Its standard input is its lifeline: when we die, it ends."""

    def __init__(self, toolchain: Toolchain, folder: Path, environment: Mapping[str, str]) -> None:
        self._toolchain, self._folder, self._environment = toolchain, folder, environment
        self._process: subprocess.Popen[str] | None = None
        self.pids: ProviderPids | None = None
        self.port = 0
        self.log = folder / "provider.log"

    def ensure(self) -> int:
        """The port to attach to. Starts the processes (about 2 s) unless they run. Raises ProviderError."""
        if self._process is None or self._process.poll() is not None or not self._whole():
            self._start()
        return self.port

    def _whole(self) -> bool:
        """False while the proxy is still ending because one of its two children is gone."""
        return self.pids is not None and all(map(_runs, (self.pids.bridge, *self.pids.terraform)))

    def _start(self) -> None:
        self.stop()
        with self.log.open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                self._command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**self._environment, **sockets_in(self._folder)},
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ProviderError(f"the AWS provider did not start: {self.last_words()} (log: {self.log})")
        told = json.loads(line)
        self.port = told["port"]
        self.pids = ProviderPids(told["pid"], told["bridge"], tuple(told["provider"]))

    def _command(self) -> list[str]:
        options = {
            "--bridge": self._toolchain.bridge,
            "--provider": self._toolchain.terraform_provider,
            "--folder": self._folder,
        }
        words = [str(word) for pair in options.items() for word in pair]
        return [sys.executable, "-m", "nightshift.emulator.engine.proxy", *words]

    def death(self) -> str | None:
        """Why the provider is no longer there, or None while it is."""
        if self._process is None or self._process.poll() is None:
            return None
        return f"the AWS provider ended (exit {self._process.returncode}): {self.last_words()}"

    def last_words(self) -> str:
        """The end of the provider's log."""
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.is_file() else ""
        lines = [line for line in text.strip().splitlines() if not line.startswith("TF ")]
        return " / ".join(lines[-_SHOWN_LINES:]) or "no word in its log"

    def stop(self) -> None:
        """End all of its processes."""
        if self._process is not None:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.close()
            self._process.wait()
            self._process.stdout.close()
        self._process = None


def sockets_in(folder: Path) -> dict[str, str]:
    """Has the Terraform provider put its socket there: a killed one leaves it, and the folder goes.

    Linux bounds a socket's path (unix(7)); in a folder too deep for that it stays in the system's own.
    """
    return {"PLUGIN_UNIX_SOCKET_DIR": str(folder)} if len(bytes(folder)) <= _DEEPEST else {}


def _runs(pid: int) -> bool:
    """Whether the process lives; one that ended and waits to be reaped doesn't."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in {"Z", "X"}

"""What the checks are given: the node as far as it is known, and the edges through which they look."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bootstrap.imds import Instance
from bootstrap.manifest import BootManifest
from bootstrap.readiness.commands import Answer, Command, Commands
from bootstrap.readiness.reading import contents, output


@dataclass(frozen=True)
class Situation:
    """One node. Without `manifest` no group is served, without `instance` no metadata service answered.

    `python` is the runtime's interpreter, `runtime` the name of a preset where no manifest names one,
    `root` where /proc, /sys, /dev and /etc begin, `sleep` waits the given seconds,
    `answers` are those that commands gave already.
    """

    manifest: BootManifest | None
    instance: Instance | None
    commands: Commands
    python: str
    root: Path = Path("/")
    runtime: str | None = None
    sleep: Callable[[float], None] = time.sleep
    answers: dict[Command, Answer] = field(default_factory=dict, repr=False, compare=False)

    def ask(self, command: Command, deadline_s: float = 30.0, *, anew: bool = False) -> str:
        """A command's whole standard output; the same command is run once unless asked `anew`.

        Raises Unreadable.
        """
        if anew or command not in self.answers:
            self.answers[command] = self.commands.run(command, deadline_s)
        return output(command, self.answers[command])

    def path(self, name: str) -> Path:
        """Where the file that a node knows as `name` (absolute) lies."""
        return self.root / name.lstrip("/")

    def read(self, name: str) -> str:
        """A small file's text. Raises Unreadable."""
        return contents(self.path(name), name)

    def has(self, name: str) -> bool:
        """Whether a file or folder is there and may be seen."""
        try:
            return self.path(name).exists()
        except OSError:
            return False

    @property
    def preset(self) -> str | None:
        """The name of the runtime that is to be proven."""
        return self.manifest.runtime if self.manifest else self.runtime

"""What happened to a run, one JSON object a line, for people and for the node's agent."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path


class Journal:
    """Appends to `path` (None: standard error only). A full disk costs the line, never the run."""

    def __init__(self, path: Path | None, *, speaks: bool = True) -> None:
        self._path = path
        self._speaks = speaks
        self._lock = threading.Lock()

    def note(self, event: str, **facts: object) -> None:
        """One record. The ranks that don't speak keep still: one line per event, not one per GPU."""
        if not self._speaks:
            return
        record = {"at": round(time.time(), 3), "event": event, **facts}
        line = json.dumps(record, default=str)
        with self._lock:
            print(f"nightshift: {_said(event, facts)}", file=sys.stderr, flush=True)
            self._append(line)

    def _append(self, line: str) -> None:
        if self._path is None:
            return
        try:
            with self._path.open("a") as stream:
                stream.write(f"{line}\n")
        except OSError as error:
            print(f"nightshift: {self._path}: {error.strerror}", file=sys.stderr)


def _said(event: str, facts: dict[str, object]) -> str:
    return " ".join([event, *(f"{key}={value}" for key, value in facts.items())])

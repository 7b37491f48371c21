"""What a real job shows of itself: its folder on the node, its checkpoints and records on the volume."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bootstrap.launch.folders import checkpoints_folder
from bootstrap.manifest import BootManifest
from nightshift.emulator.sandbox.node import Node, NodeError

JOB = "/run/nightshift/job"
_DATA = Path("/data")


@dataclass(frozen=True)
class Point:
    """A step and its loss."""

    step: int
    loss: float


@dataclass(frozen=True)
class Signs:
    """Read from this machine; what isn't there, or not whole, is nothing. `manifest` has a job."""

    node: Node
    manifest: BootManifest

    def _path(self, inside: Path | str) -> Path | None:
        try:
            return self.node.path(inside)
        except NodeError:
            return None

    @property
    def _checkpoints(self) -> Path | None:
        return self._path(checkpoints_folder(self.manifest, _DATA))

    def resumed(self, since: float) -> int | None:
        """The step that the job of a launch after `since` (unix s) goes on from; None until it trains."""
        told = self._json("progress.json")
        if told is None or float(told.get("at", 0)) < since:
            return None
        steps = [each["step"] for each in self.events() if each["event"] == "resumed" and each["at"] >= since]
        return int(steps[-1]) if steps else 0

    def outcome(self) -> dict[str, Any] | None:
        """The job's last word."""
        return self._json("outcome.json")

    def events(self) -> list[dict[str, Any]]:
        """What the job tells of itself."""
        return _lines(self._path(f"{JOB}/events.jsonl"))

    def saved(self) -> int:
        """The newest committed checkpoint's step, 0 without any."""
        folder = self._checkpoints
        try:
            names = [each.name for each in folder.iterdir()] if folder else []
        except OSError:
            return 0
        return max((int(name[5:]) for name in names if name.startswith("step-")), default=0)

    def points(self, after: int) -> list[Point]:
        """Steps that were made after `after` by the run's last launch, with their losses."""
        folder = self._checkpoints
        found: list[Point] = []
        for each in _lines(folder / "records" / "metrics.jsonl" if folder else None):
            if each.get("loss") is None:
                continue
            while found and found[-1].step >= each["step"]:
                found.pop()
            found.append(Point(int(each["step"]), float(each["loss"])))
        return [each for each in found if each.step > after]

    def step(self, after: int) -> int:
        """The last step that is known to be made, at least `after`."""
        points = self.points(after)
        return max(after, self.saved(), points[-1].step if points else 0)

    def _json(self, name: str) -> dict[str, Any] | None:
        path = self._path(f"{JOB}/{name}")
        try:
            return json.loads(path.read_text(encoding="utf-8")) if path else None
        except (OSError, ValueError):
            return None


def _lines(path: Path | None) -> list[dict[str, Any]]:
    """JSON lines; one that is being written is left out."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace") if path else ""
    except OSError:
        return []
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found

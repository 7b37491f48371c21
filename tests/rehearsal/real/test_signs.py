"""What a job shows is read as it stands: nothing, half of it, or all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from bootstrap.launch.folders import checkpoints_folder
from nightshift.emulator.sandbox.node import NodeError
from nightshift.rehearsal.real.signs import JOB, Point, Signs
from tests.rehearsal.real.support.manifests import manifest


class Rooted:
    """A node whose root is a folder here, or that is down."""

    def __init__(self, root: Path | None) -> None:
        self._root = root

    def path(self, inside: str | Path) -> Path:
        if self._root is None:
            raise NodeError("down")
        return self._root / str(inside).lstrip("/")


def signs(root: Path | None) -> Signs:
    return Signs(cast(Any, Rooted(root)), manifest())


def write(root: Path, name: str, text: str) -> None:
    path = root / JOB.lstrip("/") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def checkpoints(root: Path) -> Path:
    folder = root / str(checkpoints_folder(manifest(), Path("/data"))).lstrip("/")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_a_node_that_is_down_shows_nothing() -> None:
    there = signs(None)
    assert (there.saved(), there.step(0), there.outcome(), there.resumed(0.0)) == (0, 0, None, None)


def test_only_committed_checkpoints_count(tmp_path: Path) -> None:
    for name in ("step-000040", "step-000020", ".saving-step-000060", "records"):
        (checkpoints(tmp_path) / name).mkdir()
    assert signs(tmp_path).saved() == 40


def test_a_job_goes_on_from_what_it_says_since_its_launch(tmp_path: Path) -> None:
    told = [{"at": 5.0, "event": "resumed", "step": 20}, {"at": 15.0, "event": "resumed", "step": 40}]
    write(tmp_path, "events.jsonl", "".join(json.dumps(each) + "\n" for each in told) + '{"at": 16, "ev')
    write(tmp_path, "progress.json", json.dumps({"step": 41, "at": 16.0}))
    assert signs(tmp_path).resumed(10.0) == 40
    assert signs(tmp_path).resumed(15.5) == 0
    assert signs(tmp_path).resumed(17.0) is None


def test_steps_that_were_done_again_count_once(tmp_path: Path) -> None:
    folder = checkpoints(tmp_path) / "records"
    folder.mkdir()
    rows = [(1, 3.0), (2, 2.5), (3, 2.2), (2, 2.4), (3, 2.0), (4, 1.0)]
    lines = [json.dumps({"step": step, "loss": loss}) for step, loss in rows]
    (folder / "metrics.jsonl").write_text("\n".join(lines) + '\n{"step": 5, "lo')
    there = signs(tmp_path)
    assert there.points(1) == [Point(2, 2.4), Point(3, 2.0), Point(4, 1.0)]
    assert there.step(0) == 4
    assert there.step(9) == 9

"""Worker processes: they outlive a drain, end with their parent, and their errors are told as its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from nightshift.training import Loader, TrainingError

ROOT = Path(__file__).parent.parent.parent

pytestmark = pytest.mark.node

SCRIPT = """
import sys, time
from pathlib import Path
import torch
from nightshift.training import Loader, Run, Synthetic

how, folder = sys.argv[1], Path(sys.argv[2])

class Samples(Synthetic):
    def __getitem__(self, index):
        if how == "one never ends" and index == 7:
            time.sleep(600)
        return super().__getitem__(index)

model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, 4))
loader = Loader(Samples(40, side=4, classes=4), batch=4, shuffle=False, workers=2)
run = Run(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), loader=loader, steps=1000,
          folder=folder)
for _ in run:
    (folder / "begun").touch()
    if how == "one never ends":
        raise ValueError("mine")
    time.sleep(0.05)
"""


class Broken:
    """Samples of which one can't be had."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> int:
        if index == 5:
            raise self.error
        return index


class Homesick(Exception):
    """Can't be made again in another process."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__("far from home")


def started(*command: str, job: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "NIGHTSHIFT_JOB": str(job)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Within seconds of its start, or it is killed with its workers."""
    try:
        words = process.communicate(timeout=90)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return process.returncode, words


def outcome(job: Path) -> dict[str, Any]:
    return json.loads((job / "outcome.json").read_text())


def test_a_photo_that_cannot_be_read_ends_the_trainer_with_its_name(tmp_path: Path, job: Path) -> None:
    for name in ("a/0", "a/1", "a/2", "b/0", "b/1", "b/2"):
        path = tmp_path / "data" / "train" / f"{name}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (50, 40), (90, 200, 40)).save(path)
    broken = tmp_path / "data" / "train" / "a" / "0.jpg"
    broken.write_bytes(broken.read_bytes()[:200])
    flags = ("--model=vit-toy", "--side=32", "--batch=4", "--steps=4", "--workers=2", "--no-tensorboard")
    where = (f"--data={tmp_path / 'data'}", f"--folder={tmp_path / 'ck'}")
    code, words = ended(started("-m", "nightshift.training.trainer", *flags, *where, job=job))
    assert code == 1
    assert "Traceback" not in words
    assert outcome(job)["reason"].startswith(f"TrainingError: {broken}: can't be read as an image")
    assert words.splitlines()[-1].startswith(f"nightshift: {broken}: can't be read as an image")


def test_an_error_of_the_script_ends_it_whatever_its_workers_do(tmp_path: Path, job: Path) -> None:
    (tmp_path / "ck").mkdir()
    code, _ = ended(started("-c", SCRIPT, "one never ends", str(tmp_path / "ck"), job=job))
    assert (code, outcome(job)["reason"]) == (1, "ValueError: mine")


def test_a_notice_to_all_processes_ends_the_run_and_no_worker_before_it(tmp_path: Path, job: Path) -> None:
    (tmp_path / "ck").mkdir()
    process = started("-c", SCRIPT, "drained", str(tmp_path / "ck"), job=job)
    while not (tmp_path / "ck" / "begun").exists() and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGTERM)
    code, words = ended(process)
    assert (code, outcome(job)["outcome"], outcome(job)["saved"]) == (75, "drained", True), words


@pytest.mark.parametrize("error", [TrainingError("a.jpg: no image", "b.jpg: neither"), ValueError("bad")])
def test_what_a_worker_raises_is_raised_as_without_workers(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        list(Loader(Broken(error), batch=4, workers=1).batches(0, 2))
    assert str(caught.value) == str(error)
    assert getattr(caught.value, "problems", None) == getattr(error, "problems", None)
    told = "\n".join(getattr(caught.value, "__notes__", []))
    assert ("in a worker process" in told) is not isinstance(error, TrainingError)


def test_what_collating_raises_is_raised_as_without_workers() -> None:
    def collate(_rows: list[Any]) -> Any:
        raise TrainingError("samples of two sizes")

    with pytest.raises(TrainingError) as caught:
        list(Loader(Broken(ValueError()), batch=2, shuffle=False, workers=1, collate=collate).batches(0, 1))
    assert caught.value.problems == ("samples of two sizes",)


def test_an_error_that_cannot_travel_is_told_by_torch() -> None:
    with pytest.raises(Exception, match="far from home"):
        list(Loader(Broken(Homesick(1, 2)), batch=4, workers=1).batches(0, 2))

"""A job on this machine alone: real torchrun, real workers, the real contract."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from bootstrap.imds import Instance
from bootstrap.launch.edges import Ended, JobEdges, Waits
from bootstrap.launch.logs import JobLog, RotatingFile
from bootstrap.launch.running import RunningJob, begin
from bootstrap.manifest import BootJob, BootManifest
from tests.bootstrap.launch.support.cluster import JOB, REPO

pytestmark = pytest.mark.node
Begin = Callable[..., RunningJob]
FAST = Waits(backoff_s=0.1, kill_s=10, restarts=1)


def manifest(source: Path, run: str = "train.py", secrets: tuple[str, ...] = ()) -> BootManifest:
    job = BootJob(str(source), None, run, secrets, "stay")
    return BootManifest(
        "lab", "vit", "n", "us-east-1", "z", 1, (), False, "cpu", "UTC", (), (), 60, 20, "b", "l", job=job
    )


@pytest.fixture
def launch(tmp_path: Path) -> Generator[Begin]:
    """Begins a job; whatever is left of it at the end is killed."""
    made: list[RunningJob] = []
    source = tmp_path / "source"
    source.mkdir()
    shutil.copy(JOB, source / "train.py")
    log = JobLog(RotatingFile(tmp_path / "logs" / "job.log"), journal=lambda _line: None)

    def one(script: str = "", *, secrets: dict[str, str] | None = None, **environment: str) -> RunningJob:
        if script:
            (source / "train.py").write_text(script)
        edges = JobEdges(
            job=tmp_path / "run" / "job",
            checkpoints=tmp_path / "checkpoints",
            code=tmp_path / "code",
            secrets=(secrets or {}).__getitem__,
            log=log,
            gpus=1,
            environment={"PYTHONPATH": str(REPO), "OMP_NUM_THREADS": "1", "STEP_S": "0.01", **environment},
            waits=FAST,
        )
        given = manifest(source, secrets=tuple(secrets or ()))
        said: list[str] = []
        made.append(begin(given, Instance("i-1", "g5.xlarge", "z"), Path(sys.executable), edges, said.append))
        return made[-1]

    yield one
    for job in made:
        assert job.kill() == []
    log.close()


def ended(job: RunningJob, limit_s: float = 120.0) -> Ended:
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        if (found := job.poll()) is not None:
            return found
        time.sleep(0.05)
    raise AssertionError("the job didn't end")


def stepping(job: RunningJob, limit_s: float = 120.0) -> None:
    until = time.monotonic() + limit_s
    while job.progress() is None:
        assert job.poll() is None, job.poll()
        assert time.monotonic() < until, "no step"
        time.sleep(0.05)


def test_drained_then_finished_in_the_next_shift(launch: Begin, tmp_path: Path) -> None:
    first = launch(STEPS="150", STEPS_FILE=str(tmp_path / "steps"))
    first.set_shift(time.time() + 3600, None)
    stepping(first)
    first.drain("shift end", time.time() + 60)
    first.drain("shift end", None)
    told = ended(first)
    assert (told.kind, told.saved, told.reason) == ("drained", True, "shift end")
    second = launch(STEPS="150", STEPS_FILE=str(tmp_path / "steps"))
    done = ended(second)
    assert (done.kind, done.step, done.checkpoint) == ("finished", 150, "step-000150")
    numbers = [int(line.split()[1]) for line in (tmp_path / "steps").read_text().splitlines()]
    assert numbers == list(range(150)), "each step once"


ANY = """
import json, os, sys, time, pathlib
where = pathlib.Path(os.environ["NIGHTSHIFT_CHECKPOINTS"])
print("the key is", os.environ.get("KEY"), flush=True)
(where / "environment.json").write_text(json.dumps(dict(os.environ)))
(where / "launches").open("a").write("x")
"""


def test_a_script_that_fails_is_tried_again_and_given_up_and_its_secret_shows_nowhere(
    launch: Begin, tmp_path: Path
) -> None:
    told = ended(launch(ANY + "raise SystemExit(3)\n", secrets={"lab/key": "open-sesame-1"}))
    assert told.kind == "lost"
    assert "2 launches in a row reached no new step" in told.reason
    assert (tmp_path / "checkpoints" / "launches").read_text() == "xx"
    environment = json.loads((tmp_path / "checkpoints" / "environment.json").read_text())
    assert environment["KEY"] == "open-sesame-1"
    assert environment["WORLD_SIZE"] == "1"
    time.sleep(0.5)
    log = (tmp_path / "logs" / "job.log").read_text()
    assert "the key is ********" in log
    assert "sesame" not in log


def test_a_notice_before_anything_ran_ends_at_once(launch: Begin) -> None:
    job = launch()
    job.drain("spot notice", time.time() + 120)
    began = time.monotonic()
    told = ended(job)
    assert (told.kind, told.saved) == ("drained", True)
    assert time.monotonic() - began < 15


DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
import os; open(os.environ["NIGHTSHIFT_CHECKPOINTS"] + "/up", "w")
time.sleep(600)
"""


def test_a_job_that_hears_nothing_is_ended_when_its_time_is_over(launch: Begin, tmp_path: Path) -> None:
    job = launch(DEAF)
    until = time.monotonic() + 60
    while not (tmp_path / "checkpoints" / "up").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    job.drain("spot notice", time.time() + 4)
    told = ended(job)
    assert told.kind == "drained"
    assert "not saved in time" in told.reason

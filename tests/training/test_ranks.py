"""Real ranks: killed, resumed in another world, drained, on one node and on several."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
CAMPAIGNS = ROOT / "tests" / "campaigns"

pytestmark = pytest.mark.node


def environment(**more: str) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **more}


def told(program: str, *options: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(CAMPAIGNS / program), *options],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=850,
    )
    assert done.stdout, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_runs_killed_and_resumed_equal_the_unbroken_run_and_see_each_sample_once(tmp_path: Path) -> None:
    result = told("resumes.py", "--rounds", "1", "--folder", str(tmp_path))
    assert result["failures"] == []
    assert result["kills"] == 6, "equal worlds, nodes apart, changing worlds"


def test_twenty_crashes_at_random_points_of_saving_lose_one_interval_at_most(tmp_path: Path) -> None:
    (result,) = told("crashes.py", "--rounds", "20", "--folder", str(tmp_path))["results"]
    assert result["failures"] == []
    assert result["rounds"] == 20
    assert result["during_a_save"] >= 10, "most kills must hit a save"


@pytest.mark.skipif(os.geteuid() != 0, reason="filesystems of its own need root")
def test_what_was_reported_as_saved_outlives_a_power_cut(tmp_path: Path) -> None:
    results = told("crashes.py", "--power", "--rounds", "5", "--folder", str(tmp_path))["results"]
    assert [(one["crash"], one["rounds"], one["failures"]) for one in results] == [
        ("ext4", 5, []),
        ("xfs", 5, []),
    ]


@pytest.fixture
def gang(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The safe example under torchrun, two ranks, for longer than a test."""
    script = (ROOT / "examples" / "shift_safe.py").read_text().replace("EPOCHS = 3", "EPOCHS = 10000")
    (tmp_path / "script.py").write_text(script)
    (tmp_path / "job").mkdir()
    command = [
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node=2",
        "--max-restarts=2",
        "script.py",
    ]
    env = environment(NIGHTSHIFT_JOB=str(tmp_path / "job"), NIGHTSHIFT_CHECKPOINTS=str(tmp_path / "ck"))
    with (tmp_path / "said").open("wb") as said:
        process = subprocess.Popen([sys.executable, *command], cwd=tmp_path, env=env, stderr=said)
    yield process
    if process.poll() is None:
        process.terminate()
    process.wait(60)


def wait_for(path: Path, patience_s: float = 240.0) -> dict[str, Any]:
    until = time.monotonic() + patience_s
    while not path.exists():
        assert time.monotonic() < until, f"no {path.name}"
        time.sleep(0.05)
    return json.loads(path.read_text())


def test_under_torchrun_a_drain_file_ends_all_ranks_with_zero(
    gang: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    job = tmp_path / "job"
    wait_for(job / "progress.json")
    (job / "drain").write_text('{"version": 1, "reason": "shift end", "by": null}')
    said = wait_for(job / "outcome.json", 60)
    assert (said["outcome"], said["reason"], said["saved"]) == ("drained", "shift end", True)
    assert said["position"] == said["step"] * 64
    assert gang.wait(60) == 0
    assert (
        (tmp_path / "ck" / "latest").read_text().strip() == said["checkpoint"] == f"step-{said['step']:06d}"
    )


def test_under_torchrun_sigterm_of_one_rank_drains_all(gang: subprocess.Popen[bytes], tmp_path: Path) -> None:
    job = tmp_path / "job"
    wait_for(job / "progress.json")
    children = Path(f"/proc/{gang.pid}/task/{gang.pid}/children").read_text().split()
    os.kill(int(children[-1]), signal.SIGTERM)
    said = wait_for(job / "outcome.json", 60)
    assert (said["outcome"], said["saved"]) == ("drained", True)
    assert gang.wait(60) == 0

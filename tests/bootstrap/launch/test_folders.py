"""The run's id, its checkpoints' place, and the folder shared with the job."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.launch.edges import JobError
from bootstrap.launch.folders import checkpoints_folder, run_id
from bootstrap.launch.job_folder import JobFolder
from bootstrap.manifest import BootJob, BootManifest, BootVolume

JOB = BootJob("https://example.org/lab/vit.git", "3f2c1d0", "train.py --epochs 90", (), "release")


def manifest(*volumes: tuple[str, str]) -> BootManifest:
    made = tuple(
        BootVolume(name, 1, "xfs", "node" if per == "node" else "site", True) for name, per in volumes
    )
    return BootManifest(
        "lab", "vit", "n", "r", "z", 1, (), False, "cpu", "UTC", (), made, 1, 1, "b", "l", job=JOB
    )  # fmt: skip


def test_another_ref_goes_on_and_another_command_is_another_run() -> None:
    mended = BootJob(JOB.repo, "4444444", JOB.run, (), "release")
    longer = BootJob(JOB.repo, JOB.ref, "train.py --epochs 120", (), "release")
    assert run_id("vit", mended) == run_id("vit", JOB)
    assert run_id("vit", longer) != run_id("vit", JOB)
    assert run_id("vit", JOB).startswith("vit-")


@pytest.mark.parametrize(
    ("volumes", "name"),
    [
        ([("imagenet", "site"), ("runs", "site")], "runs"),
        ([("runs", "site"), ("imagenet", "site")], "runs"),
        ([("imagenet", "site"), ("work", "site")], "work"),
        ([("runs", "site"), ("scratch", "node")], "scratch"),
        ([("checkpoints", "node"), ("scratch", "node")], "checkpoints"),
    ],
)
def test_checkpoints_lie_on_a_volume_of_the_nodes_own(volumes: list[tuple[str, str]], name: str) -> None:
    found = checkpoints_folder(manifest(*volumes), Path("/data"))
    assert found == Path("/data") / name / "checkpoints" / run_id("vit", JOB)


def test_a_job_without_a_volume_is_refused() -> None:
    with pytest.raises(JobError, match=r"groups\.vit\.volumes: the job has no volume"):
        checkpoints_folder(manifest(), Path("/data"))


def test_a_launch_finds_no_word_of_an_earlier_one(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path / "job")
    folder.prepare()
    folder.ask_to_drain("shift end", 12.5)
    folder.tell_shift(99.0, None)
    assert json.loads((tmp_path / "job" / "drain").read_text()) == {
        "version": 1,
        "reason": "shift end",
        "by": 12.5,
    }
    (tmp_path / "job" / "outcome.json").write_text("{}")
    (tmp_path / "job" / "events.jsonl").write_text("{}\n")
    folder.prepare()
    assert sorted(path.name for path in (tmp_path / "job").iterdir()) == ["events.jsonl", "shift.json"]
    assert folder.outcome() is None
    assert folder.progress() is None


def test_an_outcome_that_cant_be_read_has_failed(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    (tmp_path / "outcome.json").write_text("{")
    outcome = folder.outcome()
    assert outcome is not None
    assert (outcome.outcome, outcome.saved) == ("failed", False)
    assert "can't be read" in outcome.reason


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = st.sampled_from(["outcome", "step", "saved", "reason", "checkpoint", "at", "total"])
WORDS = st.recursive(LEAVES, lambda each: st.lists(each) | st.dictionaries(KEYS, each), max_leaves=8)


@given(WORDS)
def test_nothing_that_a_job_writes_breaks_its_agent(
    tmp_path_factory: pytest.TempPathFactory, raw: object
) -> None:
    path = tmp_path_factory.mktemp("job")
    for name in ("outcome.json", "progress.json"):
        (path / name).write_text(json.dumps(raw))
    assert JobFolder(path).outcome() is not None
    JobFolder(path).progress()

"""Copies in S3: whole or none, dropped when old, fetched when a volume has nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
import torch
from moto import mock_aws

from nightshift.training import Checkpoints, TrainingError, TrainingState
from nightshift.training.s3 import S3Copies

BUCKET = "copies"


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket=BUCKET)
        yield client


def made(seed: int) -> TrainingState:
    torch.manual_seed(seed)
    model = torch.nn.Linear(3, 2)
    return TrainingState(model, [torch.optim.SGD(model.parameters(), lr=0.1)])


def saved(root: Path, copies: S3Copies, steps: tuple[int, ...]) -> TrainingState:
    state, checkpoints = made(1), Checkpoints(root, mirror=copies)
    for step in steps:
        checkpoints.start(state, step=step, position=step * 8)
        checkpoints.finish()
    checkpoints.close(mirror_patience_s=20)
    return state


def keys(s3: Any) -> list[str]:
    return [one["Key"] for one in s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])]


def test_a_volume_without_a_checkpoint_gets_the_newest_copy(tmp_path: Path, s3: Any) -> None:
    copies = S3Copies(f"s3://{BUCKET}/run/7", client=s3)
    state = saved(tmp_path / "lost", copies, (3, 5))
    shutil.rmtree(tmp_path / "lost")
    other, again = made(2), Checkpoints(tmp_path / "new", mirror=copies)
    loaded = again.load(other)
    again.close()
    assert loaded is not None
    assert (loaded.step, loaded.position) == (5, 40)
    assert torch.equal(other.model.get_parameter("weight"), state.model.get_parameter("weight"))
    assert (tmp_path / "new" / "latest").read_text() == "step-000005\n"


def test_a_copy_with_a_wrong_byte_is_passed_over(tmp_path: Path, s3: Any) -> None:
    copies = S3Copies(f"s3://{BUCKET}", client=s3)
    saved(tmp_path / "a", copies, (1,))
    saved(tmp_path / "a", copies, (2,))
    s3.put_object(Bucket=BUCKET, Key="step-000002/extra.pt", Body=b"other")
    folder = tmp_path / "b"
    folder.mkdir()
    assert copies.pull(folder) == "step-000001"
    s3.put_object(Bucket=BUCKET, Key="step-000001/extra.pt", Body=b"other")
    with pytest.raises(TrainingError, match="none of its copies is whole"):
        copies.pull(folder)
    assert [path.name for path in folder.iterdir() if path.name.startswith(".saving")] == []


def test_old_copies_go_and_a_half_dropped_one_is_none(tmp_path: Path, s3: Any) -> None:
    copies = S3Copies(f"s3://{BUCKET}/r", keep=1, client=s3)
    for step in (1, 2):
        saved(tmp_path, copies, (step,))
    assert {key.split("/")[1] for key in keys(s3)} == {"step-000002"}
    s3.delete_object(Bucket=BUCKET, Key="r/step-000002/manifest.json")
    assert copies.pull(tmp_path) is None


def test_a_broken_volume_is_healed_from_the_copy(tmp_path: Path, s3: Any) -> None:
    copies = S3Copies(f"s3://{BUCKET}/r", client=s3)
    saved(tmp_path, copies, (4,))
    (tmp_path / "step-000004" / "extra.pt").write_bytes(b"torn")
    again = Checkpoints(tmp_path, mirror=copies)
    loaded = again.load(made(3))
    again.close()
    assert loaded is not None
    assert loaded.step == 4


def test_a_place_that_cannot_be_read_ends_the_launch(tmp_path: Path, s3: Any) -> None:
    checkpoints = Checkpoints(tmp_path, mirror=S3Copies("s3://nowhere/r", client=s3))
    with pytest.raises(TrainingError, match="no whole checkpoint, and the mirror can't be read"):
        checkpoints.load(made(1))
    checkpoints.close()


def test_an_empty_place_begins_anew(tmp_path: Path, s3: Any) -> None:
    checkpoints = Checkpoints(tmp_path, mirror=S3Copies(f"s3://{BUCKET}/r", client=s3))
    assert checkpoints.load(made(1)) is None
    checkpoints.close()


@pytest.mark.parametrize("place", ["bucket", "s3://", "s3://B/x", "https://x"])
def test_a_wrong_place_is_said(place: str) -> None:
    with pytest.raises(TrainingError, match="expected s3://bucket"):
        S3Copies(place, client=object())

"""The whole trainer in one process, tiny."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from nightshift.training import Drained, TrainingError, pacing
from nightshift.training.trainer import loop
from nightshift.training.trainer.flags import Options
from nightshift.training.trainer.main import _mirror, main
from nightshift.training.trainer.watch import LossWatch

TINY = (
    *("--model=vit-toy", "--classes=5", "--samples=40", "--batch=8", "--micro-batch=4", "--workers=0"),
    *("--warmup-steps=2", "--log-every=1", "--no-tensorboard", "--deterministic"),
)


@pytest.fixture(autouse=True)
def _switches(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the trainer sets for its process is put back."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    yield
    torch.use_deterministic_algorithms(False)


def train(root: Path, *more: str) -> int:
    return main([*TINY, f"--folder={root / 'ck'}", *more])


def records(root: Path, name: str = "metrics") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / "ck" / "records" / f"{name}.jsonl").read_text().splitlines()]


def losses(root: Path) -> dict[int, float]:
    """By step; what was done again counts as it was done last."""
    return {one["step"]: one["loss"] for one in records(root) if "loss" in one}


def at_step(monkeypatch: pytest.MonkeyPatch, step: int, act: Callable[[], object]) -> None:
    """Do something in the middle of a step."""
    update = loop.Engine.update

    def updated(self: loop.Engine) -> None:
        update(self)
        if self.scheduler.last_epoch == step:
            act()

    monkeypatch.setattr(loop.Engine, "update", updated)


def test_it_learns_evaluates_records_and_says_what_it_achieved(
    tmp_path: Path, job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path, "--epochs=4", "--lr=3e-3", "--peak-tflops=0.01") == 0
    found = losses(tmp_path)
    assert sorted(found) == list(range(1, 21))
    assert found[20] < 0.9 * found[1]
    tops = [one["top1"] for one in records(tmp_path) if "top1" in one]
    assert len(tops) == 4
    assert tops[-1] > 0.5
    (shift,) = records(tmp_path, "shifts")
    assert (shift["steps"], shift["images"], shift["redone"]) == (20, 160, 0)
    assert shift["mfu"] > 0
    assert json.loads((job / "outcome.json").read_text())["outcome"] == "finished"
    assert "160 images at" in capsys.readouterr().err


@pytest.mark.parametrize("more", [(), ("--precision=bf16", "--recompute"), ("--precision=fp16", "--clip=0")])
def test_drained_and_launched_again_the_losses_are_the_unbroken_runs(
    tmp_path: Path, job: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    assert train(tmp_path / "whole", "--steps=8", *more) == 0
    at_step(monkeypatch, 3, (job / "drain").touch)
    monkeypatch.setattr(pacing, "ask_every", lambda _step_s: 1)
    with pytest.raises(Drained):
        train(tmp_path / "cut", "--steps=8", "--save-every-steps=2", *more)
    assert max(losses(tmp_path / "cut")) == 3
    (job / "drain").unlink()
    assert train(tmp_path / "cut", "--steps=8", *more) == 0
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")
    assert [one["step"] for one in records(tmp_path / "cut", "shifts")][-1] == 8


def test_a_batch_cut_in_two_has_the_whole_ones_loss(tmp_path: Path) -> None:
    assert train(tmp_path / "two", "--steps=3") == 0
    assert train(tmp_path / "one", "--steps=3", "--micro-batch=8") == 0
    one, two = losses(tmp_path / "one"), losses(tmp_path / "two")
    assert [two[step] for step in one] == pytest.approx(list(one.values()), rel=1e-3)


def test_a_loss_that_is_not_finite_ends_the_run_and_is_in_no_checkpoint(
    tmp_path: Path, job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add = LossWatch.add

    def poisoned(self: LossWatch, step: int, loss: torch.Tensor) -> None:
        add(self, step, loss * float("nan") if step == 4 else loss)

    monkeypatch.setattr(LossWatch, "add", poisoned)
    assert train(tmp_path, "--steps=8", "--save-every-steps=2") == 1
    said = json.loads((job / "outcome.json").read_text())
    assert said["outcome"] == "failed"
    assert said["reason"].startswith("TrainingError: step 4: the loss is nan")
    assert sorted(path.name for path in (tmp_path / "ck").glob("step-*")) == ["step-000002"]
    words = capsys.readouterr().err
    assert "Lower --lr" in words
    assert "Traceback" not in words


def test_out_of_memory_ends_with_advice(
    tmp_path: Path, job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full() -> None:
        torch.empty(1 << 60, dtype=torch.uint8)

    at_step(monkeypatch, 2, full)
    assert train(tmp_path, "--steps=8") == 1
    words = capsys.readouterr().err
    assert "--micro-batch 2 halves it" in words
    assert "Traceback" not in words
    assert "out of memory" in json.loads((job / "outcome.json").read_text())["reason"]


def folder_of_images(root: Path) -> Path:
    for part, count in (("train", 12), ("val", 4)):
        for label, colour in (("dark", 40), ("light", 200)):
            place = root / part / label
            place.mkdir(parents=True)
            for number in range(count):
                Image.new("RGB", (50 + number, 40), (colour, colour, 90)).save(place / f"{number}.jpg")
    return root


def test_a_folder_of_images_is_learnt(tmp_path: Path) -> None:
    data = folder_of_images(tmp_path / "data")
    assert train(tmp_path, f"--data={data}", "--epochs=6", "--lr=3e-3") == 0
    assert [one["top1"] for one in records(tmp_path) if "top1" in one][-1] == 1.0


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--batch=0"], "--batch: given '0'"),
        (["--seed=999999999999999999999999"], "expected from 0 to 9223372036854775808"),
        (["--folder=/dev/null"], "folder: /dev/null can't be made"),
        (["--data=/nowhere"], "no folder train"),
        (["--data=/nowhere", "--side=33"], "multiple of 8"),
        (["--side=33"], "multiple of 8"),
        (["--mirror=ftp://x", "--steps=1"], "expected s3://bucket"),
    ],
)
def test_what_cannot_be_is_said_without_a_traceback(
    tmp_path: Path, job: Path, capsys: pytest.CaptureFixture[str], flags: list[str], said: str
) -> None:
    assert train(tmp_path, *flags) in (1, 2)
    words = capsys.readouterr().err
    assert said in words
    assert "Traceback" not in words


def test_the_largest_seed_is_one(tmp_path: Path) -> None:
    assert train(tmp_path, "--steps=1", f"--seed={2**63}") == 0


def test_a_run_keeps_its_learning_rate_and_says_so(
    tmp_path: Path, job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path, "--steps=2", "--lr=3e-3") == 0
    assert train(tmp_path, "--steps=3", "--lr=2e-3", "--weight-decay=0.1") == 1
    words = capsys.readouterr().err
    assert "--lr: 0.003 when it was saved, 0.002 now" in words
    assert "--weight-decay: 0.05 when it was saved, 0.1 now" in words
    assert "Traceback" not in words
    assert "--lr" in json.loads((job / "outcome.json").read_text())["reason"]
    assert train(tmp_path, "--steps=3", "--lr=3e-3") == 0


def test_a_failure_before_the_run_is_told_to_the_node(tmp_path: Path, job: Path) -> None:
    assert train(tmp_path, "--data=/nowhere") == 1
    said = json.loads((job / "outcome.json").read_text())
    assert said["outcome"] == "failed"
    assert "no folder train" in said["reason"]


def test_train_and_val_must_have_the_same_classes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = folder_of_images(tmp_path / "data")
    os.rename(data / "val" / "dark", data / "val" / "darker")  # noqa: PTH104
    assert train(tmp_path, f"--data={data}", "--epochs=1") == 1
    assert "in only one of train and val: dark, darker" in capsys.readouterr().err


def test_a_mirror_without_its_package_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nightshift.training.s3", None)
    with pytest.raises(TrainingError, match="needs boto3"):
        _mirror(Options(mirror="s3://bucket/x"))

"""What only a CUDA device can show. `pytest -m gpu` where there is one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from nightshift.training import Checkpoints, TrainingState
from nightshift.training.trainer import models
from nightshift.training.trainer.main import main

pytestmark = pytest.mark.gpu

SMALL = (
    "--model=vit-ti16",
    "--batch=64",
    "--workers=2",
    "--warmup-steps=2",
    "--log-every=1",
    "--samples=256",
)


@pytest.fixture(autouse=True)
def _hook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)


def records(root: Path) -> list[dict[str, Any]]:
    lines = (root / "ck" / "records" / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("mode", ["off", "default", "reduce-overhead"])
def test_it_trains_in_each_mode_and_tells_the_gpus_state(tmp_path: Path, mode: str) -> None:
    assert (
        main([*SMALL, "--steps=8", "--micro-batch=32", f"--compile={mode}", f"--folder={tmp_path / 'ck'}"])
        == 0
    )
    found = records(tmp_path)
    assert found[-1]["step"] == 8
    assert all(one["loss"] == pytest.approx(found[0]["loss"], rel=0.5) for one in found if "loss" in one)
    assert any(one.get("gpu_memory_peak_gib") for one in found)
    assert any(one.get("gpu_busy") is not None for one in found)


def test_half_precision_agrees_with_full(tmp_path: Path) -> None:
    by_precision = {}
    for name in ("fp32", "bf16", "fp16"):
        root = tmp_path / name
        assert main([*SMALL, "--steps=20", f"--precision={name}", f"--folder={root / 'ck'}"]) == 0
        by_precision[name] = [one["loss"] for one in records(root) if "loss" in one][-1]
    assert by_precision["bf16"] == pytest.approx(by_precision["fp32"], rel=0.02)
    assert by_precision["fp16"] == pytest.approx(by_precision["fp32"], rel=0.02)


def test_deterministic_mode_is(tmp_path: Path) -> None:
    losses = []
    for name in ("one", "two"):
        root = tmp_path / name
        assert main([*SMALL, "--steps=6", "--deterministic", f"--folder={root / 'ck'}"]) == 0
        losses.append([one["loss"] for one in records(root) if "loss" in one])
    torch.use_deterministic_algorithms(False)
    assert losses[0] == losses[1]


def test_too_large_a_batch_ends_with_advice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    free = torch.cuda.mem_get_info()[0]
    batch = int(free / 20e6)  # ViT-B keeps more than that for an image
    flags = ("--model=vit-b16", f"--batch={batch}", f"--samples={batch}", "--steps=2", "--workers=8")
    assert main([*flags, f"--folder={tmp_path / 'ck'}"]) == 1
    said = capsys.readouterr().err
    assert f"--micro-batch {batch // 2} halves it" in said
    assert "--recompute" in said


def test_a_save_stalls_training_less_than_a_tenth_of_a_second(tmp_path: Path) -> None:
    """1.04 GB over the bus at some 25 GB/s into pinned memory is 42 ms."""
    model = models.build("vit-b16", side=224, classes=1000).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    checkpoints = Checkpoints(tmp_path)
    blocked = []
    for step in range(1, 5):
        blocked.append(checkpoints.start(TrainingState(model, [optimizer]), step=step, position=step))
        checkpoints.finish()
    checkpoints.close()
    assert min(blocked[1:]) < 0.1

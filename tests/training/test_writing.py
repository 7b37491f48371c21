"""What a committed checkpoint's files have been through."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from nightshift.training import Checkpoints, TrainingState


def test_every_file_is_synced_after_its_last_byte_whatever_torch_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch 2.6 and 2.8 sync before they flush: a power cut left an empty .metadata in every checkpoint."""
    synced: dict[int, int] = {}
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        fsync(descriptor)
        found = os.fstat(descriptor)
        synced[found.st_ino] = found.st_size

    monkeypatch.setattr(os, "fsync", noted)
    model = torch.nn.Linear(2, 1)
    state = TrainingState(model, [torch.optim.SGD(model.parameters(), lr=0.1)], {})
    checkpoints = Checkpoints(tmp_path)
    checkpoints.start(state, step=1, position=8, extra={})
    assert checkpoints.finish() is not None
    files = list((tmp_path / "step-000001").iterdir())
    assert ".metadata" in {path.name for path in files}
    late = [path.name for path in files if synced.get(path.stat().st_ino) != path.stat().st_size]
    assert late == []

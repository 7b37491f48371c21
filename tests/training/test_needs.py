"""What training needs beside torch, which doesn't bring it along."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch.distributed as dist

from nightshift.training import ranks
from nightshift.training.errors import TrainingError

ROOT = Path(__file__).parent.parent.parent
PINNED = [*(ROOT / "requirements").glob("*.txt"), *(ROOT / "bootstrap" / "runtime" / "locks").glob("*.txt")]


def test_whatever_pins_torch_pins_numpy_too() -> None:
    """Two ranks tell each other nothing without it."""
    with_torch = [file for file in PINNED if "\ntorch==" in file.read_text()]
    assert len(with_torch) >= 5, "try, dev, and a runtime of each kind"
    assert [file.name for file in with_torch if "\nnumpy==" not in file.read_text()] == []


def test_ranks_without_numpy_are_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dist, "is_initialized", lambda: True)
    monkeypatch.setattr(ranks, "find_spec", lambda _name: None)
    with pytest.raises(TrainingError, match="pip install numpy"):
        ranks.find_ranks(tmp_path)

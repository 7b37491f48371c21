"""These tests need torch; where it isn't installed they are left out, and the run says so."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

# One thread: two cores are shared with the ranks, and a forked child of many threads may hang.
os.environ.setdefault("OMP_NUM_THREADS", "1")

HAS_TORCH = importlib.util.find_spec("torch") is not None
collect_ignore_glob = [] if HAS_TORCH else ["test_*.py"]


def pytest_report_header(config: pytest.Config) -> list[str]:
    return [] if HAS_TORCH else ["tests/training left out: torch is not installed (extra `training`)"]


@pytest.fixture(autouse=True)
def _outside_of_a_node(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NIGHTSHIFT_JOB", "NIGHTSHIFT_CHECKPOINTS", "NIGHTSHIFT_RUN", "TORCHELASTIC_RUN_ID"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder shared with the node's agent."""
    folder = tmp_path / "job"
    folder.mkdir()
    monkeypatch.setenv("NIGHTSHIFT_JOB", str(folder))
    return folder

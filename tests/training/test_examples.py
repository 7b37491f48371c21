"""The documented changes are the real ones, and the scripts before and after them run."""

from __future__ import annotations

import difflib
import importlib.util
import json
import runpy
import signal
import sys
import warnings
from pathlib import Path

import pytest
import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.metadata import TensorStorageMetadata

from nightshift.training import Drained, pacing
from nightshift.training.reader import SafeReader

ROOT = Path(__file__).parent.parent.parent
PLAIN, SAFE = "examples/plain.py", "examples/shift_safe.py"
OTHER_PLAIN, OTHER_SAFE = "examples/lightning/plain.py", "examples/lightning/shift_safe.py"
HAS_LIGHTNING = importlib.util.find_spec("pytorch_lightning") is not None


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> object:
    """A script's run hooks its process; each asks its node at every step here."""
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(pacing, "ask_every", lambda _step_s: 1)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(("plain", "safe"), [(PLAIN, SAFE), (OTHER_PLAIN, OTHER_SAFE)])
def test_the_diff_in_the_docs_is_the_one_between_the_examples(plain: str, safe: str) -> None:
    before, after = ((ROOT / name).read_text().splitlines() for name in (plain, safe))
    diff = "\n".join(difflib.unified_diff(before, after, plain, safe, lineterm="", n=1))
    assert f"```diff\n{diff}\n```" in (ROOT / "docs/training.md").read_text()


def test_the_safe_script_is_not_longer_than_the_plain_one() -> None:
    plain, safe = ((ROOT / name).read_text().splitlines() for name in (PLAIN, SAFE))
    assert len(safe) <= len(plain)


def ran(name: str) -> None:
    runpy.run_path(str(ROOT / name), run_name="__main__")


def weights(checkpoints: Path) -> dict[str, torch.Tensor]:
    """Of the newest checkpoint, and the optimizer's state."""
    reader = SafeReader(checkpoints / (checkpoints / "latest").read_text().strip())
    found = {
        name: torch.empty(one.size, dtype=one.properties.dtype)
        for name, one in reader.read_metadata().state_dict_metadata.items()
        if isinstance(one, TensorStorageMetadata)
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.load(found, storage_reader=reader)
    return found


def drained_and_resumed_equals_unbroken(
    name: str, tmp_path: Path, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The weights at the end, to the last bit."""
    monkeypatch.setenv("NIGHTSHIFT_CHECKPOINTS", str(tmp_path / "whole"))
    ran(name)
    monkeypatch.setenv("NIGHTSHIFT_CHECKPOINTS", str(tmp_path / "cut"))
    (job / "drain").touch()
    with pytest.raises(Drained):
        ran(name)
    assert json.loads((job / "outcome.json").read_text())["step"] == 1
    (job / "drain").unlink()
    ran(name)
    assert json.loads((job / "outcome.json").read_text())["outcome"] == "finished"
    whole, cut = weights(tmp_path / "whole"), weights(tmp_path / "cut")
    assert whole.keys() == cut.keys()
    assert all(torch.equal(whole[one], cut[one]) for one in whole)


def test_the_plain_script_runs(capsys: pytest.CaptureFixture[str]) -> None:
    ran(PLAIN)
    assert "loss " in capsys.readouterr().out


def test_the_safe_script_drained_and_resumed_ends_as_the_unbroken_one(
    tmp_path: Path, job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drained_and_resumed_equals_unbroken(SAFE, tmp_path, job, monkeypatch)
    assert capsys.readouterr().out.split() == ["step", "94", "step", "94"]


@pytest.mark.skipif(not HAS_LIGHTNING, reason="pytorch-lightning is not installed (examples/lightning)")
@pytest.mark.filterwarnings("ignore")
def test_the_same_with_a_popular_trainer(
    tmp_path: Path, job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(OTHER_PLAIN)
    drained_and_resumed_equals_unbroken(OTHER_SAFE, tmp_path, job, monkeypatch)
    assert capsys.readouterr().out.count("step 94") == 2

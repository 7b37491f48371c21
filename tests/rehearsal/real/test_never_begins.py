"""A job that fails as it begins ends the rehearsal soon: the line that says why, the whole log kept."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from nightshift.rehearsal.real import stand_in
from nightshift.rehearsal.real.able import reason_to_model
from nightshift.rehearsal.real.life import Stuck
from nightshift.rehearsal.real.sandbox_fleet import PATIENCE_S
from tests.rehearsal.real.support.ground import ground
from tests.rehearsal.real.support.manifests import manifest

pytestmark = [pytest.mark.node, pytest.mark.xdist_group("storage")]


def test_its_exception_and_its_log_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := reason_to_model(manifest()):
        pytest.skip(reason)
    job = tmp_path / "fails.py"
    job.write_text('raise RuntimeError("Numpy is not available")\n')
    monkeypatch.setattr(stand_in, "TRAIN", job)
    monkeypatch.setenv("NIGHTSHIFT_CACHE", str(tmp_path / "cache"))
    began = time.monotonic()
    with ground(tmp_path) as site, pytest.raises(Stuck) as raised:
        site.play(days=1)
    assert time.monotonic() - began < PATIENCE_S / 2
    first, second = str(raised.value).splitlines()
    assert first.endswith(": its job never began: RuntimeError: Numpy is not available")
    kept = Path(second.removeprefix("its whole log is "))
    assert kept == tmp_path / "cache" / "rehearsal" / "weeks.train.log"
    assert "RuntimeError: Numpy is not available" in kept.read_text()
    assert "ended here" in kept.read_text()

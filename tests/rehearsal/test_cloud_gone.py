"""A rehearsal whose emulated AWS dies says that, instead of what the engine saw of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from nightshift.emulator.cloud.process import Cloud
from nightshift.rehearsal.deploy import _alive, _Failed


def _ended(seconds: str) -> Cloud:
    process = subprocess.Popen(
        [sys.executable, "-c", f"import time; time.sleep({seconds}); raise SystemExit(3)"]
    )
    return Cloud("http://127.0.0.1:1", process, 0.0)


def test_a_step_that_fails_on_a_dead_cloud_names_the_cloud() -> None:
    cloud = _ended("0")
    cloud.process.wait()
    with pytest.raises(_Failed) as caught, _alive(cloud):
        raise _Failed("second up failed:\nTraceback of the engine")
    assert (
        str(caught.value) == "second up failed: the emulated AWS ended by itself (exit code 3); run it again"
    )


def test_a_step_that_fails_on_a_living_cloud_keeps_the_engines_words() -> None:
    cloud = _ended("60")
    try:
        with pytest.raises(_Failed, match="Traceback of the engine"), _alive(cloud):
            raise _Failed("up failed:\nTraceback of the engine")
    finally:
        cloud.stop()

"""The trainer with real ranks, and kernels really compiled and kept."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent.parent

pytestmark = pytest.mark.node

# A small function's first call, with what an earlier process compiled, if anything.
COMPILES = """
import sys, time
from pathlib import Path
import torch
from nightshift.training.trainer.compiling import CompileCache
cache = CompileCache.at(Path(sys.argv[1]), Path(sys.argv[2]))
how = cache.open()
cache.use()
compiled = torch.compile(lambda x: (x.sin() + 1).sum())
began = time.perf_counter()
found = compiled(torch.ones(8))
took = time.perf_counter() - began
print(how, took, found.item().hex(), cache.keep(), sep="|")
"""


def told(*command: str, **more: str) -> str:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **more},
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.stdout, done.stderr[-3000:]
    return done.stdout.splitlines()[-1]


def test_the_trainer_killed_and_resumed_has_the_unbroken_runs_losses() -> None:
    said: dict[str, Any] = json.loads(
        told(str(ROOT / "tests" / "campaigns" / "trainer_kills.py"), "--rounds", "1", "--seed", "2")
    )
    assert said["failures"] == []
    assert said["kills"] == 4


@pytest.mark.skipif(not any(map(shutil.which, ("g++", "clang++"))), reason="no C++ compiler: install g++")
def test_kernels_compiled_in_one_process_are_there_in_the_next(tmp_path: Path) -> None:
    def compiled() -> tuple[str, float, str, int]:
        shutil.rmtree(tmp_path / "scratch", ignore_errors=True)
        said = told("-c", COMPILES, str(tmp_path / "volume"), str(tmp_path / "scratch"))
        how, took, found, kept = said.split("|")
        return how, float(took), found, int(kept)

    cold, cold_s, found, kept = compiled()
    assert (cold, kept > 0) == ("cold: none kept yet", True)
    warm, warm_s, same, none = compiled()
    assert (warm, same, none) == ("warm", found, 0)
    assert warm_s < cold_s / 2

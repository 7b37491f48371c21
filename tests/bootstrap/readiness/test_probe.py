"""The probe's own arithmetic and bookkeeping, without torch; and as a real program, with none installed."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.imds import Instance
from bootstrap.readiness import probe
from bootstrap.readiness.commands import Shell
from bootstrap.readiness.read_probe import PROBE, collective_report, kernels_report, runtime_report
from bootstrap.readiness.situation import Situation

MAPS = """\
7f1c40000000-7f1c40200000 r-xp 00000000 103:01 1835 /opt/rt/lib/python3.13/site-packages/nvidia/nccl/lib/libnccl.so.2
7f1c40200000-7f1c40300000 r--p 00200000 103:01 1835 /opt/rt/lib/python3.13/site-packages/nvidia/nccl/lib/libnccl.so.2
7f1c50000000-7f1c50100000 r-xp 00000000 103:01 77   /usr/lib/x86_64-linux-gnu/libcuda.so.595.71.05
7f1c50100000-7f1c50200000 r-xp 00000000 103:01 78   /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.595.71.05
7f1c50200000-7f1c50300000 r-xp 00000000 103:01 79   /usr/lib/x86_64-linux-gnu/libcurl.so.4.7.0
7f1c50300000-7f1c50400000 r-xp 00000000 103:01 80   /usr/local/cuda/lib64/libcudnn_ops.so.9 (deleted)
7ffd1c000000-7ffd1c021000 rw-p 00000000 00:00 0     [stack]
7ffd1c100000-7ffd1c121000 rw-p 00000000 00:00 0
"""  # noqa: E501  # as the kernel writes it


def test_mapped_libraries_are_those_of_cuda_and_each_once() -> None:
    assert probe.cuda_libraries(MAPS) == [
        "/opt/rt/lib/python3.13/site-packages/nvidia/nccl/lib/libnccl.so.2",
        "/usr/lib/x86_64-linux-gnu/libcuda.so.595.71.05",
        "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.595.71.05",
    ]


@given(st.floats(0, 1e6), st.floats(1e-6, 1e6))
def test_a_difference_is_never_rounded_down(difference: float, scale: float) -> None:
    parts = probe.millionths(difference, scale)
    assert parts is not None
    assert parts >= difference / scale * 1e6 * (1 - 1e-9)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_a_number_has_no_difference(bad: float) -> None:
    assert probe.millionths(bad, 1.0) is None
    assert probe.millionths(1.0, bad) is None


def test_the_network_is_read_from_nccl_s_log_whatever_its_case() -> None:
    log = (
        "ip-10:77:77 [0] NCCL INFO NET/OFI Selected provider is efa, fabric is efa (found 4 nics)\n"
        "ip-10:77:99 [0] NCCL INFO using network AWS Libfabric\n"
        "ip-10:78:98 [1] NCCL INFO using network AWS Libfabric\n"
    )
    assert probe.network_lines(log) == [
        "NET/OFI Selected provider is efa, fabric is efa (found 4 nics)",
        "using network AWS Libfabric",
    ]


def test_bandwidth_is_counted_as_nccl_tests_do() -> None:
    assert probe.bus_mb_per_s(1_000_000_000, 8, 1.0) == 1750


def test_the_line_that_names_an_error_is_what_is_told() -> None:
    log = "Traceback\n  File x\nRuntimeError: NCCL error: no space\n[rank0]: destroying\n"
    assert probe.last_words(log) == "RuntimeError: NCCL error: no space"
    assert probe.last_words("") == "ended without a word"


def leave(folder: Path, rank: int, correct: bool, log: str = "") -> None:
    (folder / f"rank-{rank}.log").write_text(log)
    if correct:
        (folder / f"rank-{rank}.json").write_text(json.dumps({"correct": True, "mb_per_s": 100 + rank}))


def test_ranks_that_hang_are_named_and_the_slowest_counts(tmp_path: Path) -> None:
    leave(tmp_path, 0, True)
    leave(tmp_path, 1, True)
    told = probe.gathered(tmp_path, [0, 0], "")
    assert (told["finished"], told["hung"], told["correct"], told["mb_per_s"]) == (2, [], True, 100)
    leave(tmp_path, 2, False)
    told = probe.gathered(tmp_path, [0, 0, None], "")
    assert (told["finished"], told["hung"], told["correct"], told["error"]) == (2, [2], False, None)


def test_a_failed_rank_s_last_words_are_the_error(tmp_path: Path) -> None:
    leave(tmp_path, 0, False, "ValueError: no\n")
    told = probe.gathered(tmp_path, [1], "")
    assert (told["finished"], told["error"]) == (0, "ValueError: no")


@pytest.mark.node
def test_a_hanging_rank_is_ended_at_the_deadline(tmp_path: Path) -> None:
    sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    begun = time.monotonic()
    codes = probe.supervise([sleep, [sys.executable, "-c", ""]], tmp_path, 3.0, {})
    assert codes == [None, 0]
    assert time.monotonic() - begun < 20


@pytest.mark.node
def test_a_rank_that_fails_isn_t_waited_for_until_the_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "EXIT_GRACE_S", 0.5)
    sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    begun = time.monotonic()
    assert probe.supervise([sleep, [sys.executable, "-c", "raise SystemExit(3)"]], tmp_path, 50.0, {})[1] == 3
    assert time.monotonic() - begun < 30


@pytest.mark.node
@pytest.mark.parametrize("step", ["runtime", "kernels", "collective"])
def test_without_torch_the_probe_says_so_in_its_own_form(step: str) -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-I", PROBE, step], capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(done.stdout)["error"] == "ModuleNotFoundError: No module named 'torch'"


@pytest.mark.node
def test_the_reader_takes_what_the_probe_writes() -> None:
    """With torch where this Python has it, without it elsewhere: one form either way."""
    node = Situation(None, Instance("i-0", "g6.xlarge", "a"), Shell(), sys.executable)
    assert runtime_report(node).python == sys.version.split()[0]
    assert kernels_report(node).step == "kernels"
    assert collective_report(node).step == "collective"


@pytest.mark.node
def test_what_libraries_print_stays_out_of_the_answer(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("print('noise on stdout')\nraise RuntimeError('broken')\n")
    done = subprocess.run(
        [sys.executable, PROBE, "runtime"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert json.loads(done.stdout)["error"] == "RuntimeError: broken"
    assert "noise" in done.stderr

"""The one line that matters, found in what a failed job printed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.rehearsal.real.why import LENGTH, LINES, over, reason

TABLE = """\
Traceback (most recent call last):
  File "/opt/bin/torchrun", line 10, in <module>
    sys.exit(main())
             ^^^^^^
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-12-07_20:01:02
  host      : ip-10-0-0-9
  rank      : 1 (local_rank: 1)
  exitcode  : 1 (pid: 82)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
------------------------------------------------------------
Root Cause (first observed failure):
============================================================
"""
RANK = """\
Traceback (most recent call last):
  File "/data/runs/train.py", line 70, in <module>
    main()
  File "/data/runs/train.py", line 51, in main
    for inputs, labels in run:
RuntimeError: Numpy is not available
"""


def prefixed(text: str, rank: str) -> str:
    return "".join(f"{rank}{line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    "log",
    [
        RANK + TABLE,
        prefixed(RANK, "[rank0]: ") + prefixed(RANK, "[rank1]: ") + TABLE,
        prefixed(RANK, "[default0]:") + TABLE + TABLE,
        "".join(line + line for line in RANK.splitlines(keepends=True)) + TABLE,
    ],
)
def test_the_exception_is_found_before_torchruns_table(log: str) -> None:
    assert reason(log) == "RuntimeError: Numpy is not available"


def test_of_a_chain_the_last_exception_counts() -> None:
    chain = f"{RANK}\nDuring handling of the above exception, another exception occurred:\n\n"
    assert reason(chain + RANK.replace("RuntimeError: Numpy", "ValueError: That")) == (
        "ValueError: That is not available"
    )


def test_without_an_exception_the_last_lines_are_shown_whole() -> None:
    said = "one\ntwo\nbus error\ncore dumped\n"
    assert reason(said + TABLE) == "bus error; core dumped; train.py FAILED"
    assert reason("") == ""


def test_of_a_killed_worker_the_signal_is_told() -> None:
    enable = next(line for line in TABLE.splitlines() if "To enable" in line)
    killed = TABLE.replace(enable, "  traceback : Signal 9 (SIGKILL) received by PID 82")
    assert reason(killed) == "train.py FAILED; traceback : Signal 9 (SIGKILL) received by PID 82"


@given(st.text())
def test_any_log_gives_a_bounded_line(log: str) -> None:
    assert len(reason(log).splitlines()) <= 1
    assert len(reason(log)) <= LINES * (LENGTH + 4)


@given(st.lists(st.text("abc", min_size=1, max_size=9), min_size=1).map(" ".join))
def test_a_long_exception_is_cut_between_words(words: str) -> None:
    shown = reason(f"Traceback (most recent call last):\n  File\nValueError: {words}").removesuffix(" …")
    assert f"ValueError: {words} ".startswith(f"{shown} ")


LOST, FAILED = "the job ended: lost: 4 launches in a row", "the job ended: failed: it raised"
FIRST, SECOND = "generation 1 ended here: lost, code 1", "generation 2 ended here: lost, code 2"


@pytest.mark.parametrize(
    ("said", "nodes", "why"),
    [
        ("", 1, ""),
        (FIRST, 1, ""),
        (f"{FIRST}\n{SECOND}", 1, "code 2"),
        (f"{FIRST}\n{SECOND}", 2, ""),
        (LOST, 1, "4 launches in a row"),
        (LOST, 2, ""),
        (f"{LOST}\n{LOST}", 2, "4 launches in a row"),
        (FAILED, 4, "it raised"),
        ("the job can't be started: no train.py", 2, "the job can't be started: no train.py"),
        ("the job ended: finished: all done", 1, ""),
    ],
)
def test_a_job_is_over_when_its_agent_says_so(said: str, nodes: int, why: str) -> None:
    assert over(said, nodes) == why

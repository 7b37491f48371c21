"""The job's output: kept, turned over, hidden where it must be, and never waited for."""

from __future__ import annotations

import os
import time
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bootstrap.launch.logs import Backlog, JobLog, RotatingFile


def test_lines_come_through_in_order_and_secrets_do_not(tmp_path: Path) -> None:
    heard: list[str] = []
    log = JobLog(RotatingFile(tmp_path / "job.log"), also=[heard.append], journal=lambda _line: None)
    log.hide(["hunter2-hunter2", "short"])
    log("step 1")
    log("token=hunter2-hunter2 short")
    log.close()
    assert (tmp_path / "job.log").read_text() == "step 1\ntoken=******** short\n"
    assert heard == ["step 1", "token=******** short"]


def test_a_full_file_is_turned_over_and_the_oldest_goes(tmp_path: Path) -> None:
    file = RotatingFile(tmp_path / "job.log", size=10, files=3)
    for number in range(5):
        file.write([f"line number {number}"])
    texts = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert texts == {"job.log.1": "line number 4\n", "job.log.2": "line number 3\n"}


def test_a_disk_that_takes_nothing_loses_lines_and_takes_up_again(tmp_path: Path) -> None:
    blocked = tmp_path / "logs"
    blocked.write_text("in the way")
    file = RotatingFile(blocked / "job.log")
    file.write(["a", "b"])
    assert file.lost == 2
    blocked.unlink()
    file.write(["c"])
    file.close()
    assert (blocked / "job.log").read_text() == "c\n"


def test_a_writer_that_cant_keep_up_costs_the_oldest_lines_and_says_how_many() -> None:
    backlog = Backlog(limit=10)
    for number in range(8):
        backlog.put(f"{number:04d}")
    assert backlog.take(0) == (["0006", "0007"], 6)
    assert backlog.take(0) == ([], 0)


@given(st.lists(st.text(max_size=30), max_size=40), st.integers(1, 100))
def test_no_line_is_lost_uncounted(lines: list[str], limit: int) -> None:
    backlog = Backlog(limit=limit)
    for line in lines:
        backlog.put(line)
    kept, lost = backlog.take(0)
    assert kept == lines[lost:]
    assert len(kept) + lost == len(lines)


def test_a_stuck_journal_never_holds_up_the_job(tmp_path: Path) -> None:
    def stuck(_line: str) -> None:
        time.sleep(60)

    log = JobLog(RotatingFile(tmp_path / "job.log"), journal=stuck)
    reading, writing = os.pipe()
    log.listen(os.fdopen(reading, "rb"))
    began = time.monotonic()
    with os.fdopen(writing, "wb") as job:
        for _ in range(200):
            job.write(b"x" * 8000 + b"\n")
    assert time.monotonic() - began < 5


def test_a_line_without_an_end_is_taken_in_pieces(tmp_path: Path) -> None:
    heard: list[str] = []
    log = JobLog(RotatingFile(tmp_path / "job.log"), also=[heard.append], journal=lambda _line: None)
    reading, writing = os.pipe()
    log.listen(os.fdopen(reading, "rb"))
    with os.fdopen(writing, "wb") as job:
        job.write(b"y" * 40_000 + b"\xff\n")
    deadline = time.monotonic() + 5
    while sum(map(len, heard)) < 40_001 and time.monotonic() < deadline:
        time.sleep(0.01)
    log.close()
    assert sum(map(len, heard)) == 40_001
    assert max(map(len, heard)) <= 16_384

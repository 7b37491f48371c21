"""A word to terminals: when a shift's end is said, and that nobody waits for a terminal."""

from __future__ import annotations

import os
import pty
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.people.word import Reminder, tell, tell_soon

END = datetime(2026, 12, 2, 7, tzinfo=UTC)


def before(minutes: float) -> datetime:
    return END - timedelta(minutes=minutes)


def test_an_end_is_said_15_and_5_minutes_before_it_and_no_more() -> None:
    reminder = Reminder()
    told = {left: reminder.due(END, before(left)) for left in (60, 16, 14.6, 14, 6, 4.9, 4, 1, 0, -5)}
    assert {left: said for left, said in told.items() if said is not None} == {14.6: 15, 4.9: 5}


SECONDS = st.integers(-600, 7200)


@given(st.lists(SECONDS.map(lambda each: each / 60), max_size=60).map(lambda all_: sorted(all_)[::-1]))
def test_however_seldom_it_looks_it_says_at_most_two_words_and_none_too_early(looks: list[float]) -> None:
    reminder = Reminder()
    said = [(left, minutes) for left in looks if (minutes := reminder.due(END, before(left))) is not None]
    assert len(said) <= 2
    assert all(0 < left <= 15 and abs(minutes - left) <= 1 for left, minutes in said)
    if any(0 < left <= 5 for left in looks):
        assert said[-1][0] <= 5


def test_an_end_that_moves_is_said_anew_and_none_is_never_said() -> None:
    reminder = Reminder()
    assert reminder.due(END, before(4)) == 4
    later = END + timedelta(hours=1)
    assert reminder.due(later, before(4)) is None
    assert reminder.due(later, before(-50)) == 10
    assert reminder.due(None, before(1)) is None
    assert reminder.due(END, None) is None


@pytest.fixture(name="dev")
def _dev(tmp_path: Path) -> Path:
    (tmp_path / "pts").mkdir()
    (tmp_path / "pts" / "ptmx").write_text("")
    return tmp_path


def terminal(dev: Path, number: int) -> tuple[int, int]:
    """A terminal as one of the node's, with both of its ends."""
    ours, theirs = pty.openpty()
    (dev / "pts" / str(number)).symlink_to(os.ttyname(theirs))
    return ours, theirs


def fill(handle: int) -> None:
    with suppress(BlockingIOError):
        while True:
            os.write(handle, b"x" * 4096)


def test_every_terminal_hears_it_and_nothing_else_is_written(dev: Path) -> None:
    ends = [terminal(dev, number) for number in (0, 7)]
    assert tell("the shift\x1b[2J ends", dev) == 2
    for ours, theirs in ends:
        told = os.read(ours, 1000).decode()
        assert "*** Nightshift: the shift [2J ends ***" in told
        assert "\x1b" not in told
        os.close(ours)
        os.close(theirs)
    assert (dev / "pts" / "ptmx").read_text() == ""


def test_a_terminal_that_takes_nothing_costs_no_time(dev: Path) -> None:
    ours, theirs = terminal(dev, 0)
    os.set_blocking(theirs, False)
    fill(theirs)
    began = time.monotonic()
    assert tell("the shift ends", dev) == 0
    assert time.monotonic() - began < 2
    os.close(ours)
    os.close(theirs)


def test_a_node_without_terminals_is_no_error(tmp_path: Path) -> None:
    assert tell("x", tmp_path) == 0
    tell_soon("x", tmp_path).join(10)

"""Ranges arrive in order, some fail and are asked for again, and waiting has an end and a heartbeat."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.runtime.prefetch import fetched, patiently, ranges
from bootstrap.runtime.progress import Progress


class Time:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now, self.slept = 0.0, list[float]()

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@given(st.integers(0, 1000), st.integers(1, 100))
def test_ranges_cover_every_byte_once_and_in_order(size: int, chunk: int) -> None:
    found = [byte for start, count in ranges(size, chunk) for byte in range(start, start + count)]
    assert found == list(range(size))


@given(st.binary(max_size=300), st.integers(1, 50), st.integers(1, 6))
def test_the_bytes_come_in_order_however_many_are_read_at_once(data: bytes, chunk: int, ahead: int) -> None:
    def read(start: int, count: int) -> bytes:
        return data[start : start + count]

    pieces = fetched(read, len(data), lambda: None, 1.0, chunk, ahead)
    assert b"".join(pieces) == data


def test_a_range_that_fails_or_comes_short_is_asked_for_again() -> None:
    answers: Iterator[bytes | OSError] = iter([OSError("reset"), b"ab", b"abc"])

    def read(start: int, count: int) -> bytes:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    world = Time()
    assert patiently(read, 5, 3, 60.0, world.clock, world.sleep) == b"abc"
    assert world.slept == [0.5, 1.0]


@pytest.mark.parametrize("patience_s", [0.0, 10.0, 60.0])
def test_patience_ends_with_the_last_reason(patience_s: float) -> None:
    world = Time()

    def read(start: int, count: int) -> bytes:
        raise OSError(f"unreachable at {world.now:g}")

    with pytest.raises(OSError, match="unreachable"):
        patiently(read, 0, 1, patience_s, world.clock, world.sleep)
    assert world.now <= patience_s


def test_while_nothing_comes_the_heart_beats_and_what_it_raises_ends_it() -> None:
    let_go, beats = threading.Event(), list[float]()

    def read(start: int, count: int) -> bytes:
        let_go.wait(20)
        return b"x" * count

    def beat() -> None:
        beats.append(time.monotonic())
        if len(beats) == 2:
            raise KeyboardInterrupt

    try:
        with pytest.raises(KeyboardInterrupt):
            list(fetched(read, 10, beat, 60.0, 5, 2))
    finally:
        let_go.set()
    assert len(beats) == 2


def test_progress_says_share_and_pace_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now, said, beats = [0.0], list[str](), list[int]()
    monkeypatch.setattr("bootstrap.runtime.progress.time.monotonic", lambda: now[0])
    progress = Progress(100 << 20, said.append, lambda: beats.append(1))
    for _ in range(20):
        now[0] += 1.0
        progress(5 << 20)
    assert said == [f"{share} %, {share} MiB of 100 MiB, 5 MiB/s" for share in (25, 50, 75, 100)]
    assert len(beats) == 20

"""Reads an object in ranges, several ahead at a time, and hands them on in order."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet

from bootstrap.runtime.tree import Beat

CHUNK = 16 << 20
AHEAD = 8
"""S3 gives about 90 MB/s a connection; 8 x 16 MiB is what is held in memory."""
Read = Callable[[int, int], bytes]
"""(first byte, number of bytes) -> that many bytes. Raises OSError."""


def ranges(size: int, chunk: int) -> list[tuple[int, int]]:
    """(first byte, number of bytes) of all of it, in order."""
    return [(start, min(chunk, size - start)) for start in range(0, size, chunk)]


def patiently(
    read: Read,
    start: int,
    count: int,
    patience_s: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> bytes:
    """Read a range; again while it fails, until `patience_s` have passed. Raises the last OSError."""
    deadline, pause_s = clock() + patience_s, 0.5
    while True:
        try:
            data = read(start, count)
            if len(data) == count:
                return data
            error = OSError(f"{len(data)} bytes instead of {count} at {start}")
        except OSError as failed:
            error = failed
        if clock() + pause_s > deadline:
            raise error
        sleep(pause_s)
        pause_s = min(2 * pause_s, 8.0)


def fetched(
    read: Read, size: int, beat: Beat, patience_s: float, chunk: int = CHUNK, ahead: int = AHEAD
) -> Generator[bytes]:
    """All bytes in order; `beat` once a second while waiting. Raises OSError, and what `beat` raises."""
    pool = ThreadPoolExecutor(ahead, "fetch")
    waiting: deque[Future[bytes]] = deque()
    try:
        for start, count in ranges(size, chunk):
            waiting.append(pool.submit(patiently, read, start, count, patience_s))
            if len(waiting) >= ahead:
                yield _result(waiting.popleft(), beat)
        while waiting:
            yield _result(waiting.popleft(), beat)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _result(future: Future[bytes], beat: Beat) -> bytes:
    while True:
        try:
            return future.result(timeout=1.0)
        except NotYet:
            if future.done():
                raise
            beat()

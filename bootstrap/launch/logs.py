"""What the job prints: into files with rotation, to the journal, to the log group. The job never waits.

A reader per launch only moves lines into memory; what can't be kept up with is dropped, counted and said.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

LogSink = Callable[[str], None]
"""Takes one line and returns at once."""
LINE_BYTES = 16_384
WAITING_BYTES = 8 << 20
FILE_BYTES = 64 << 20
FILES = 5


@dataclass
class Backlog:
    """Lines between one who may not wait and one who may be slow: the oldest give way."""

    limit: int = WAITING_BYTES
    _lines: deque[str] = field(default_factory=deque)
    _size: int = 0
    _lost: int = 0
    _more: threading.Condition = field(default_factory=threading.Condition)

    def put(self, line: str) -> None:
        with self._more:
            self._lines.append(line)
            self._size += len(line)
            while self._size > self.limit:
                self._size -= len(self._lines.popleft())
                self._lost += 1
            self._more.notify()

    def take(self, wait_s: float) -> tuple[list[str], int]:
        """All lines there are, after at most `wait_s` for the first, and how many were lost before them."""
        with self._more:
            if not self._lines:
                self._more.wait(wait_s)
            lines, lost = list(self._lines), self._lost
            self._lines.clear()
            self._size = self._lost = 0
            return lines, lost


class RotatingFile:
    """job.log, job.log.1 and so on, the oldest last. A full disk loses lines, never the job."""

    def __init__(self, path: Path, size: int = FILE_BYTES, files: int = FILES) -> None:
        self._path, self._limit, self._files = path, size, files
        self._stream: IO[str] | None = None
        self.lost = 0

    def write(self, lines: Iterable[str]) -> None:
        """Append, and turn over when the file is full."""
        lines = list(lines)
        try:
            self._open().writelines(f"{line}\n" for line in lines)
            self._open().flush()
            if self._open().tell() >= self._limit:
                self._turn_over()
        except OSError:
            self.lost += len(lines)
            self.close()

    def _open(self) -> IO[str]:
        if self._stream is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self._path.open("a", encoding="utf-8")
        return self._stream

    def close(self) -> None:
        """The next write opens it again."""
        stream, self._stream = self._stream, None
        if stream is not None:
            with suppress(OSError):
                stream.close()

    def _turn_over(self) -> None:
        self.close()
        names = [self._path.with_name(f"{self._path.name}.{number}") for number in range(1, self._files)]
        for older, newer in zip(reversed(names), [*reversed(names[:-1]), self._path], strict=True):
            if newer.exists():
                newer.replace(older)


def to_journal(line: str) -> None:
    """Standard output, which systemd keeps."""
    with suppress(OSError, ValueError):
        print(line, flush=True)


class JobLog:
    """`also`: further sinks, each of which returns at once. `hidden`: texts that no line may show."""

    def __init__(
        self, file: RotatingFile, also: Iterable[LogSink] = (), journal: LogSink = to_journal
    ) -> None:
        self._file = file
        self._also = tuple(also)
        self._journal = journal
        self._backlog = Backlog()
        self._hidden: tuple[str, ...] = ()
        self._stop = threading.Event()
        self._pump = threading.Thread(target=self._run, name="nightshift-log", daemon=True)
        self._pump.start()

    def hide(self, texts: Iterable[str]) -> None:
        """Secrets of eight characters and more are shown as asterisks; shorter ones are words too often."""
        self._hidden = tuple(sorted({each for each in texts if len(each) >= 8}, key=len, reverse=True))

    def __call__(self, line: str) -> None:
        for text in self._hidden:
            line = line.replace(text, "********")
        self._backlog.put(line)
        for sink in self._also:
            sink(line)

    def listen(self, stream: IO[bytes]) -> None:
        """Read it to its end on a thread of its own."""
        threading.Thread(target=self._read, args=(stream,), name="nightshift-job-out", daemon=True).start()

    def close(self, limit_s: float = 5.0) -> None:
        """Write what is there."""
        self._stop.set()
        self._pump.join(limit_s)

    def _read(self, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError), stream:
            while line := stream.readline(LINE_BYTES):
                self(line.decode("utf-8", "replace").rstrip("\r\n"))

    def _run(self) -> None:
        while not (self._stop.is_set() and not self._backlog._lines):
            lines, lost = self._backlog.take(0.2)
            if lost:
                lines.insert(0, f"nightshift: {lost} lines of the job were lost here: too many at once")
            if lines:
                self._file.write(lines)
                for line in lines:
                    self._journal(line)
        self._file.close()


def throw_away(stream: IO[bytes]) -> None:
    """Read it to its end for nothing, so that the job never waits for a reader."""
    threading.Thread(target=_drained, args=(stream,), name="nightshift-job-out", daemon=True).start()


def _drained(stream: IO[bytes]) -> None:
    with suppress(OSError, ValueError), stream:
        while stream.read(65_536):
            pass

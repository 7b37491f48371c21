"""SIGTERM and SIGHUP end a rehearsal as Ctrl-C does: what it started is ended, what it made is removed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def as_ctrl_c() -> Generator[None]:
    """Within the block. The first one counts; a signal that is ignored (nohup) stays so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _ENDING}
    heeded = [number for number, handler in before.items() if handler is not signal.SIG_IGN]

    def end(number: int, frame: FrameType | None) -> None:
        for each in heeded:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in heeded:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, before[number])

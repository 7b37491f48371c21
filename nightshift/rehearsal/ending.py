"""SIGTERM and SIGHUP end a rehearsal as Ctrl-C does: what it started is ended, what it made is removed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGTERM, signal.SIGHUP)
Handler = Callable[[int, FrameType | None], object] | signal.Handlers


@contextmanager
def handled(numbers: Iterable[signal.Signals], handler: Handler) -> Generator[None]:
    """By `handler` within the block. Only a main thread can; one that is ignored, as by nohup, stays so."""
    main = threading.current_thread() is threading.main_thread()
    taken = [one for one in numbers if main and signal.getsignal(one) is not signal.SIG_IGN]
    before = {one: signal.signal(one, handler) for one in taken}
    try:
        yield
    finally:
        for one, earlier in before.items():
            signal.signal(one, earlier)


@contextmanager
def as_ctrl_c() -> Generator[None]:
    """Within the block. The first one counts."""

    def end(number: int, frame: FrameType | None) -> None:
        for each in _ENDING:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    with handled(_ENDING, end):
        yield

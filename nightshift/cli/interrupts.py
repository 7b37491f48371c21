"""What ends a verb from outside, where something must be taken away first: Ctrl-C, SIGTERM, SIGHUP."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_Handler = Callable[[int, FrameType | None], object] | signal.Handlers


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


@contextmanager
def _handled(numbers: Iterable[signal.Signals], handler: _Handler) -> Generator[None]:
    """Only a main thread can; one that is ignored, as by nohup, stays so."""
    main = threading.current_thread() is threading.main_thread()
    taken = [one for one in numbers if main and signal.getsignal(one) is not signal.SIG_IGN]
    before = {one: signal.signal(one, handler) for one in taken}
    try:
        yield
    finally:
        for one, earlier in before.items():
            signal.signal(one, earlier)


@contextmanager
def like_ctrl_c() -> Generator[None]:
    """SIGTERM and SIGHUP raise KeyboardInterrupt too."""
    with _handled((signal.SIGTERM, signal.SIGHUP), _end):
        yield


@contextmanager
def undisturbed() -> Generator[None]:
    """None of them ends what is within: it takes away what would cost."""
    with _handled(ENDING, signal.SIG_IGN):
        yield


@contextmanager
def answered_first(say: Callable[[], None]) -> Generator[None]:
    """The first of them waits for what is within, after `say`; a second one doesn't."""
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if came:
            raise KeyboardInterrupt
        came.append(number)
        say()

    try:
        with _handled(ENDING, note):
            yield
    finally:
        if came:
            raise KeyboardInterrupt

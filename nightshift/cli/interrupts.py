"""What ends a verb from outside, where something must be taken away first: Ctrl-C, SIGTERM, SIGHUP."""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from nightshift.rehearsal.ending import handled

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


@contextmanager
def like_ctrl_c() -> Generator[None]:
    """SIGTERM and SIGHUP raise KeyboardInterrupt too."""
    with handled((signal.SIGTERM, signal.SIGHUP), _end):
        yield


@contextmanager
def undisturbed() -> Generator[None]:
    """None of them ends what is within: it takes away what would cost."""
    with handled(ENDING, signal.SIG_IGN):
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
        with handled(ENDING, note):
            yield
    finally:
        if came:
            raise KeyboardInterrupt

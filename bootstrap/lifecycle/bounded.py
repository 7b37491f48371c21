"""A call that may take longer than there is time for: left behind, not waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class TookTooLong(Exception):
    """It may still end, and whatever it does then is done; nobody hears of it."""


class _Call(Generic[T]):
    def __init__(self, act: Callable[[], T]) -> None:
        self._act = act
        self.value: list[T] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.value.append(self._act())
        except BaseException as error:
            self.error = error


def bounded(what: str, act: Callable[[], T], limit_s: float) -> T:
    """Its answer, or what it raised. Raises TookTooLong after `limit_s`.

    A thread, since a call that the kernel or a dead network holds can't be broken off.
    """
    call = _Call(act)
    thread = threading.Thread(target=call.run, name=what, daemon=True)
    thread.start()
    thread.join(max(0.0, limit_s))
    if call.error is not None:
        raise call.error
    if not call.value:
        raise TookTooLong(f"{what}: no answer within {limit_s:.0f} s")
    return call.value[0]

"""Says how far something is, every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from bootstrap.runtime.problem import size
from bootstrap.runtime.tree import Beat

_SAY_S = 5.0


class Progress:
    """Counts bytes up to `total`; `beat` with each count."""

    def __init__(self, total: int, say: Callable[[str], None], beat: Beat) -> None:
        self._total, self._say, self._beat = total, say, beat
        self._done, self._began = 0, time.monotonic()
        self._said = self._began

    def __call__(self, count: int) -> None:
        self._beat()
        self._done += count
        now = time.monotonic()
        if now - self._said >= _SAY_S:
            self._said = now
            rate = self._done / (now - self._began)
            share = 100 * self._done // max(1, self._total)
            self._say(f"{share} %, {size(self._done)} of {size(self._total)}, {size(rate)}/s")

    def over(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The same pieces, counted."""
        for piece in pieces:
            self(len(piece))
            yield piece

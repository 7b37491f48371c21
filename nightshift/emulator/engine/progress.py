"""Lines that tell a waiting person what is being done and how long it normally takes."""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

Say = Callable[[str], None]
_EVERY_S = 15.0


@contextmanager
def ticking(say: Say, what: str, normal_seconds: int, every: float = _EVERY_S) -> Generator[None]:
    """Say at the start, every `every` seconds, and at the end, how long `what` has taken."""
    began = time.monotonic()
    over = threading.Event()

    def tick() -> None:
        while not over.wait(every):
            say(f"{what}: {time.monotonic() - began:.0f} s (normally about {normal_seconds} s)")

    say(f"{what} (normally about {normal_seconds} s)")
    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    say(f"{what}: done in {time.monotonic() - began:.0f} s")

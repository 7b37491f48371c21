"""`rehearse --stay`: the emulated AWS stays up for the operator's verbs in another terminal."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

_POLL_S = 0.2


def apart() -> int:
    """Go on in a session of one's own, so that a terminal's Ctrl-C does not end the emulated AWS as well.

    The process that was started stays in front, hands signals over, ends as this one does. Returns its id.
    """
    front = os.getpid()
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return front
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: os.kill(child, signal.SIGINT))
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def wait(front: int, endpoint: str, region: str, stack: str, say: Callable[[str], None]) -> None:
    """Say how to reach the emulated AWS, and wait for Ctrl-C or for the end of the process in front."""
    for line in told(endpoint, region, stack):
        say(line)
    try:
        while os.getppid() == front:
            time.sleep(_POLL_S)
    except KeyboardInterrupt:
        say("going on: nodes are taken down, then destroy")


def told(endpoint: str, region: str, stack: str) -> tuple[str, ...]:
    """What to type in another terminal."""
    return (
        "",
        f"{stack} stands. In another terminal:",
        f"  export AWS_ENDPOINT_URL={endpoint}",
        "  export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test",
        f"  export AWS_REGION={region}",
        f"  .venv/bin/nightshift status --stack {stack}",
        "Then shifts, hold, wake, sleep, resume, retire, restore, logs, connect,",
        "doctor. No node software runs here: a node that is woken stays `starting`,",
        "and prints nothing. Ctrl-C here ends it.",
        "",
    )

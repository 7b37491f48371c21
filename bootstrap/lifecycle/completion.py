"""Tells the group, until it has heard: a call that may be made again, within a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bootstrap.aws import AwsError
from bootstrap.storage.waiting import Clock, Deadline

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 15.0


@dataclass(frozen=True)
class Told:
    """`heard`: AWS answered. `waited`: somebody still waited for it; a hook may be gone or done before."""

    heard: bool
    waited: bool
    tries: int
    says: str


def tell(act: Callable[[], bool], within_s: float, clock: Clock) -> Told:
    """Call until it's answered, with growing pauses; gives up when the next try would begin after the time.

    The first try is always made.
    """
    deadline, pause_s, tries = Deadline(within_s, clock), FIRST_PAUSE_S, 0
    while True:
        tries += 1
        try:
            waited = act()
        except AwsError as error:
            says = str(error)
        else:
            return Told(True, waited, tries, "told" if waited else "nobody waited any more")
        if deadline.seconds + pause_s > within_s:
            return Told(False, False, tries, f"{says} ({tries} tries)")
        clock.sleep(pause_s)
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

"""Watches the metadata service for the node's end. What can't be asked is said, and is no notice.

While the service is silent the group itself is asked: only a spot notice stands nowhere else.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Protocol

from bootstrap.lifecycle.metadata import Said
from bootstrap.lifecycle.notice import Inbox, Notice

STATE = "autoscaling/target-lifecycle-state"
SPOT = "spot/instance-action"
REBALANCE = "events/recommendations/rebalance"
SPOT_S = 120.0
"""A spot notice comes two minutes before the end (EC2 User Guide); hibernation may give none."""
SILENT_AFTER = 3
"""Looks in a row that fail before it's said: a single lost answer is nothing."""


class Asks(Protocol):
    """The metadata service."""

    def get(self, path: str) -> Said | None:
        """None where nothing stands there. Raises OSError."""


class Group(Protocol):
    """The group, by an API that answers without the metadata service while credentials last."""

    def is_ended(self) -> bool:
        """Whether it ends this node. May raise anything: a watcher goes on."""


def end_notice(state: str) -> Notice | None:
    """By the state that the group moves this node to."""
    if state != "Terminated":
        return None
    return Notice("end", "the group ends this node (target-lifecycle-state Terminated)")


def spot_notice(said: Said, now: float, wall: datetime) -> Notice:
    """What stands at spot/instance-action is a notice, readable or not.

    The seconds left are between the two times that the service itself tells, never more than SPOT_S;
    `wall` (aware) stands in where it tells no time. `now` is monotonic.
    """
    try:
        told = json.loads(said.text)
        action, at = str(told["action"]), _instant(str(told["time"]))
    except (ValueError, KeyError, TypeError):
        return Notice("spot", f"EC2 takes this node back; said as {said.text[:80]!r}", now + SPOT_S)
    left = min(SPOT_S, max(0.0, (at - (said.at or wall)).total_seconds()))
    return Notice("spot", f"EC2 takes this node back: {action} at {at:%H:%M:%S} UTC", now + left)


def _instant(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)


@dataclass(frozen=True)
class Clocks:
    """Monotonic seconds and the wall clock (aware)."""

    now: Callable[[], float] = time.monotonic
    wall: Callable[[], datetime] = lambda: datetime.now(timezone.utc)


class Watcher:
    """Looks every `every_s` seconds in a thread of its own. `at_risk` is called once when EC2 recommends to
    rebalance: a loss is likelier than before, but nothing ends yet."""

    def __init__(
        self,
        metadata: Asks,
        group: Group,
        inbox: Inbox,
        say: Callable[[str], None],
        at_risk: Callable[[], None],
        every_s: float,
        clocks: Clocks | None = None,
    ) -> None:
        self._metadata, self._group, self._inbox, self._say = metadata, group, inbox, say
        self._at_risk, self._every_s = at_risk, every_s
        self._clocks = clocks or Clocks()
        self._stopped = threading.Event()
        self._failed = 0
        self._risky = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """One look here and now, so that a restarted agent knows before it begins; then the thread."""
        self.look()
        self._thread = threading.Thread(target=self._run, name="metadata", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """No more looks."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._stopped.wait(self._every_s):
            try:
                self.look()
            except Exception as error:
                # A watcher that died would be a node that hears no notice.
                self._unanswered(error)

    def look(self) -> None:
        """One look at all three. Spot first: it has the least time."""
        try:
            spot = self._metadata.get(SPOT)
            if spot is not None:
                self._inbox.put(spot_notice(spot, self._clocks.now(), self._clocks.wall()))
            state = self._metadata.get(STATE)
            if state is not None and (notice := end_notice(state.text)) is not None:
                self._inbox.put(notice)
            if not self._risky and self._metadata.get(REBALANCE) is not None:
                self._risky = True
                self._say("EC2 recommends to rebalance: this node is likelier to be lost than before")
                self._at_risk()
        except (OSError, http.client.HTTPException) as error:
            self._unanswered(error)
            return
        if self._failed >= SILENT_AFTER:
            self._say("the metadata service answers again")
        self._failed = 0

    def _unanswered(self, error: Exception) -> None:
        self._failed += 1
        if self._failed == SILENT_AFTER:
            self._say(f"the metadata service doesn't answer: {error}; a spot notice would not be seen")
        if self._failed >= SILENT_AFTER:
            self._ask_group()

    def _ask_group(self) -> None:
        """Never of a node that drains: each question renews the hook, which has to give up one that hangs."""
        if self._inbox.cause is not None:
            return
        try:
            ended = self._group.is_ended()
        except Exception as error:
            if self._failed == SILENT_AFTER:
                self._say(f"nor does its group, asked in its place: {error}")
            return
        if ended:
            self._inbox.put(Notice("end", "the group ends this node (its drain hook waits)"))

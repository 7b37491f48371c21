"""The job's lines in the log group, in batches that CloudWatch Logs takes, from a thread of its own.

Limits of PutLogEvents (CloudWatch Logs API reference): 1,048,576 bytes a batch with 26 more for each event,
10,000 events, 24 hours between the first and the last, in order of time. Nothing waits for it: what can't be
sent in time is dropped, counted and said where it is missing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from bootstrap.launch.logs import Backlog

BATCH_BYTES = 1_048_576
EVENT_OVERHEAD = 26
EVENTS = 10_000
SPAN_MS = 24 * 3600 * 1000 - 1
EVENT_BYTES = 256 * 1024 - EVENT_OVERHEAD
EVERY_S = 2.0
PATIENCE_S = 60.0
_STAMP = 14  # characters before the line in the backlog


@dataclass(frozen=True)
class Event:
    """`at` in unix milliseconds."""

    at: int
    text: str

    @property
    def size(self) -> int:
        """Bytes as the service counts them."""
        return len(self.text.encode("utf-8")) + EVENT_OVERHEAD


def batches(events: Sequence[Event]) -> Iterator[list[Event]]:
    """All events in order, in as few batches as the limits allow; an event that is too long is cut."""
    batch: list[Event] = []
    size = 0
    for event in sorted((_cut(each) for each in events), key=lambda each: each.at):
        full = len(batch) >= EVENTS or size + event.size > BATCH_BYTES
        if batch and (full or event.at - batch[0].at > SPAN_MS):
            yield batch
            batch, size = [], 0
        batch.append(event)
        size += event.size
    if batch:
        yield batch


def _cut(event: Event) -> Event:
    """The service refuses an empty message."""
    data = event.text.encode("utf-8")
    if len(data) <= EVENT_BYTES:
        return event if event.text else Event(event.at, " ")
    return Event(event.at, data[:EVENT_BYTES].decode("utf-8", "ignore"))


class LogGroup:
    """A sink for one stream, `{group_name}/{instance id}/job`, made at the first line."""

    def __init__(
        self,
        client: Any,
        group: str,
        stream: str,
        say: Callable[[str], None],
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._where = {"logGroupName": group, "logStreamName": stream}
        self._say = say
        self._wall = wall
        self._backlog = Backlog()
        self._made = False
        self._told = False
        self.lost = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="nightshift-log-group", daemon=True)
        self._thread.start()

    def __call__(self, line: str) -> None:
        self._backlog.put(f"{int(self._wall() * 1000):0{_STAMP}d}{line}")

    def close(self, limit_s: float = 5.0) -> None:
        """Send what is there, for at most `limit_s`."""
        self._stop.set()
        self._thread.join(limit_s)

    def _run(self) -> None:
        while not self._stop.is_set():
            lines, lost = self._backlog.take(EVERY_S)
            self._send(lines, lost)
            self._stop.wait(EVERY_S if lines else 0)
        self._send(*self._backlog.take(0))

    def _send(self, lines: Sequence[str], lost: int) -> None:
        events = [Event(int(line[:_STAMP]), line[_STAMP:]) for line in lines]
        self.lost += lost
        if lost and events:
            events.insert(0, Event(events[0].at, f"nightshift: {lost} lines were lost here"))
        for batch in batches(events):
            self._put(batch)

    def _put(self, batch: Sequence[Event]) -> None:
        """Tried until PATIENCE_S are over: the queue behind it is bounded, and newer lines matter more."""
        until, pause = time.monotonic() + PATIENCE_S, 0.5
        while True:
            problem = self._try(batch)
            if problem is None:
                self._told = False
                return
            if not self._told:
                self._say(f"the job's log doesn't reach the log group: {problem}")
                self._told = True
            if self._stop.is_set() or time.monotonic() > until:
                self.lost += len(batch)
                return
            self._stop.wait(pause)
            pause = min(10.0, pause * 2)

    def _try(self, batch: Sequence[Event]) -> Exception | None:
        try:
            self._make()
            told = [{"timestamp": each.at, "message": each.text} for each in batch]
            self._client.put_log_events(**self._where, logEvents=told)
        except (ClientError, BotoCoreError) as error:
            return error
        return None

    def _make(self) -> None:
        if self._made:
            return
        try:
            self._client.create_log_stream(**self._where)
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != "ResourceAlreadyExistsException":
                raise
        self._made = True

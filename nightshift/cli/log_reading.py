"""Reading a log group by FilterLogEvents: in pages, patiently, and again and again for what is new.

Quota: 5 calls a second for an account and region, not to be raised (AWS Knowledge Center, "CloudWatch Logs
throttling", 2023-01); other people's consoles count too. A call every two seconds leaves room.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from nightshift.cli.errors import CliError
from nightshift.cli.failures import passing
from nightshift.cli.log_lines import LogLine, read_event

POLL_S = 2.0
PACE_S = 0.25
LATE_MS = 180_000
"""How late a line may come and still be shown: a node waits a minute with a batch and sends the next one
behind it (bootstrap/launch/log_group.py), so two minutes, and one for the service."""
TRIES = 3
"""Of a read that ends; the SDK itself makes several of each."""
PATIENCE_S = 60.0
"""Of a read that ends, for one page: an AWS that never answers takes the SDK's own tries longer than this."""
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 30.0
PAGE = 10_000


@dataclass(frozen=True)
class Query:
    """Streams by prefix; unix milliseconds, both ends in. `until` None: to the newest."""

    group: str
    prefix: str
    since: int
    until: int | None = None


class Reader:
    """One log group, asked at most every PACE_S. A call that doesn't get through is tried again.

    `tries` None: for ever.
    """

    def __init__(
        self,
        client: Any,
        say: Callable[[str], None],
        *,
        tries: int | None = TRIES,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client, self._say, self._tries = client, say, tries
        self._sleep, self._clock = sleep, clock
        self._asked = float("-inf")

    def pages(
        self, query: Query, *, newest_first: bool = False, limit: int = PAGE
    ) -> Iterator[list[LogLine]]:
        """Every page, also empty ones; in order of time."""
        words: dict[str, Any] = {
            "logGroupName": query.group,
            "logStreamNamePrefix": query.prefix,
            "startTime": query.since,
            "limit": min(limit, PAGE),
        }
        if query.until is not None:
            words["endTime"] = query.until
        if newest_first:
            words["startFromHead"] = False
        while True:
            answer = self._call(words)
            yield [read_event(raw) for raw in answer.get("events", ())]
            if not answer.get("nextToken"):
                return
            words["nextToken"] = answer["nextToken"]

    def last(self, query: Query, count: int) -> list[LogLine]:
        """The newest `count` lines, in order of time."""
        found: list[LogLine] = []
        for page in self.pages(query, newest_first=True, limit=count):
            found += page
            if len(found) >= count:
                break
        return found[:count][::-1]

    def _call(self, words: dict[str, Any]) -> Any:
        failures, wait = 0, FIRST_WAIT_S
        began = self._clock()
        while True:
            self._sleep(max(0.0, self._asked + PACE_S - self._clock()))
            self._asked = self._clock()
            try:
                answer = self._client.filter_log_events(**words)
            except Exception as error:
                why = passing(error)
                failures += 1
                spent = self._clock() - began
                enough = self._tries is not None and (failures >= self._tries or spent >= PATIENCE_S)
                if why is None or enough:
                    raise
                if failures == 1:
                    self._say(f"{why}: trying again")
                self._sleep(wait)
                wait = min(LONGEST_WAIT_S, 2 * wait)
                continue
            if failures:
                self._say("AWS answers again")
            return answer


class Follower:
    """What comes after the lines already shown. Late lines come out of order rather than not at all."""

    def __init__(self, reader: Reader, query: Query, wall: Callable[[], float] = time.time) -> None:
        self._reader, self._query, self._wall = reader, query, wall
        self._seen: dict[str, int] = {}
        self._newest = 0

    def shown(self, lines: list[LogLine]) -> list[LogLine]:
        """Those of `lines` that weren't shown before; they are now."""
        fresh = [line for line in lines if line.id not in self._seen]
        for line in fresh:
            self._seen[line.id] = line.ms
            self._newest = max(self._newest, line.ms)
        return fresh

    def look(self) -> Iterator[list[LogLine]]:
        """One look: new lines, page by page."""
        since = self._since()
        for page in self._reader.pages(Query(self._query.group, self._query.prefix, since)):
            yield self.shown(page)
        self._seen = {key: at for key, at in self._seen.items() if at >= since}

    def _since(self) -> int:
        """Behind the newest line shown, or behind now where a node's clock is ahead of this one."""
        if not self._newest:
            return self._query.since
        return max(self._query.since, min(self._newest, int(self._wall() * 1000)) - LATE_MS)


def stream_names(client: Any, group: str, prefix: str) -> list[str]:
    """The group's streams that begin so, by name. Raises CliError when there is no such log group."""
    try:
        pages = client.get_paginator("describe_log_streams").paginate(
            logGroupName=group, logStreamNamePrefix=prefix
        )
        return [str(raw["logStreamName"]) for page in pages for raw in page["logStreams"]]
    except client.exceptions.ResourceNotFoundException:
        raise CliError(f"log group {group} doesn't exist") from None

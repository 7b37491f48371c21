"""Batches that the service takes, and a service that doesn't."""

from __future__ import annotations

import time
from typing import Any

from botocore.exceptions import ClientError, EndpointConnectionError
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.launch import log_group
from bootstrap.launch.log_group import BATCH_BYTES, EVENTS, SPAN_MS, Event, LogGroup, batches

TEXTS = st.one_of(st.text(max_size=50), st.integers(0, 400_000).map(lambda size: "é" * size))


@given(st.lists(st.tuples(st.integers(0, 3 * SPAN_MS), TEXTS), max_size=25))
def test_no_batch_is_beyond_a_limit_and_no_event_is_lost(given_events: list[tuple[int, str]]) -> None:
    events = [Event(at, text) for at, text in given_events]
    made = list(batches(events))
    assert sum(map(len, made)) == len(events)
    for batch in made:
        assert sum(event.size for event in batch) <= BATCH_BYTES
        assert batch[-1].at - batch[0].at <= SPAN_MS
        assert [event.at for event in batch] == sorted(event.at for event in batch)
        assert all(event.text for event in batch)
    assert [event.at for batch in made for event in batch] == sorted(at for at, _ in given_events)


def test_ten_thousand_events_a_batch() -> None:
    assert [len(batch) for batch in batches([Event(1, "x")] * (EVENTS + 1))] == [EVENTS, 1]


class Service:
    """CloudWatch Logs as far as it's used. `down`: it can't be reached."""

    def __init__(self, *, there: bool = False, down: bool = False) -> None:
        self.there, self.down = there, down
        self.streams: list[str] = []
        self.lines: list[str] = []

    def create_log_stream(self, **given: Any) -> None:
        self._reach()
        if self.there:
            raise ClientError({"Error": {"Code": "ResourceAlreadyExistsException"}}, "CreateLogStream")
        self.streams.append(given["logStreamName"])

    def put_log_events(self, **given: Any) -> None:
        self._reach()
        self.lines += [each["message"] for each in given["logEvents"]]

    def _reach(self) -> None:
        if self.down:
            raise EndpointConnectionError(endpoint_url="logs")


def sink(service: Service, said: list[str]) -> LogGroup:
    return LogGroup(service, "/nightshift/lab", "nightshift-lab-vit/i-1/job", said.append)


def test_lines_arrive_in_the_nodes_own_stream() -> None:
    service, said = Service(), list[str]()
    lines = sink(service, said)
    lines("step 1")
    lines("")
    lines.close()
    assert (service.streams, service.lines, said) == (["nightshift-lab-vit/i-1/job"], ["step 1", " "], [])


def test_a_stream_of_an_earlier_boot_is_used_again() -> None:
    service = Service(there=True)
    lines = sink(service, [])
    lines("step 1")
    lines.close()
    assert service.lines == ["step 1"]


def test_a_service_that_is_down_is_said_once_and_costs_no_time() -> None:
    service, said = Service(down=True), list[str]()
    lines = sink(service, said)
    began = time.monotonic()
    for number in range(1000):
        lines(f"line {number}")
    assert time.monotonic() - began < 1
    lines.close()
    assert len(said) == 1
    assert "doesn't reach the log group" in said[0]
    assert lines.lost == 1000


def test_lines_that_came_too_fast_are_missed_where_they_are_missing() -> None:
    service = Service()
    lines = sink(service, [])
    lines._send(["00000000000001after"], 7)
    lines.close()
    assert service.lines == ["nightshift: 7 lines were lost here", "after"]
    assert lines.lost == 7
    assert log_group.EVENT_BYTES < 256 * 1024

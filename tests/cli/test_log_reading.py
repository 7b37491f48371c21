"""Reading a log group: pages, patience, and a follower that neither loses nor doubles a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.cli.log_lines import LogLine
from nightshift.cli.log_reading import LATE_MS, PACE_S, Follower, Query, Reader

QUERY = Query("/nightshift/lab", "nightshift-lab.vit/", 0)
BASE = 1_796_202_000_000


def _refusal(code: str, status: int = 400) -> ClientError:
    told = {"Error": {"Code": code, "Message": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(told, "FilterLogEvents")  # ty: ignore[invalid-argument-type]


LOST = EndpointConnectionError(endpoint_url="https://logs")


class _Logs:
    """A log group in memory, with small pages and troubles to come."""

    def __init__(self, page: int = 2) -> None:
        self.events: list[dict[str, Any]] = []
        self.troubles: list[Exception] = []
        self.asked: list[dict[str, Any]] = []
        self._page = page

    def put(self, *times: int) -> None:
        for ms in times:
            number = len(self.events)
            stream = "nightshift-lab.vit/i-1/job"
            self.events.append(
                {
                    "eventId": str(number),
                    "timestamp": ms,
                    "message": f"line {number}",
                    "logStreamName": stream,
                }
            )

    def filter_log_events(self, **words: Any) -> Any:
        self.asked.append(words)
        if self.troubles:
            raise self.troubles.pop(0)
        backward = words.get("startFromHead") is False
        fit = [one for one in self.events if one["timestamp"] >= words["startTime"]]
        fit = [one for one in fit if one["timestamp"] <= words.get("endTime", 10**15)]
        fit = sorted(fit, key=lambda one: (one["timestamp"], int(one["eventId"])), reverse=backward)
        first = int(words.get("nextToken", "0"))
        last = first + min(self._page, words["limit"])
        more = {"nextToken": str(last)} if last < len(fit) else {}
        return {"events": fit[first:last], **more}


class _Time:
    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)


@pytest.fixture(name="logs")
def _logs() -> _Logs:
    return _Logs()


@pytest.fixture(name="said")
def _said() -> list[str]:
    return []


def _reader(logs: _Logs, said: list[str], time: _Time | None = None, tries: int | None = 3) -> Reader:
    time = time or _Time()
    return Reader(logs, said.append, tries=tries, sleep=time.sleep, clock=lambda: time.now)


def _ids(pages: Iterator[list[LogLine]]) -> list[str]:
    return [line.id for page in pages for line in page]


def test_all_pages_are_read_in_order(logs: _Logs, said: list[str]) -> None:
    logs.put(BASE + 5, BASE, BASE + 3, BASE + 9, BASE + 1)
    assert _ids(_reader(logs, said).pages(QUERY)) == ["1", "4", "2", "0", "3"]
    assert said == []


def test_the_newest_lines_come_in_order_of_time(logs: _Logs, said: list[str]) -> None:
    logs.put(*(BASE + at for at in range(7)))
    found = _reader(logs, said).last(QUERY, 3)
    assert [line.text for line in found] == ["line 4", "line 5", "line 6"]
    assert len(logs.asked) == 2


def test_fewer_lines_than_asked_for_are_all_of_them(logs: _Logs, said: list[str]) -> None:
    logs.put(BASE, BASE + 1)
    assert len(_reader(logs, said).last(QUERY, 100)) == 2


def test_calls_stay_below_the_quota(logs: _Logs, said: list[str]) -> None:
    logs.put(*(BASE + at for at in range(40)))
    time = _Time()
    list(_reader(logs, said, time).pages(QUERY))
    assert time.now >= (len(logs.asked) - 1) * PACE_S


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        (_refusal("ThrottlingException"), "AWS asks for fewer calls"),
        (_refusal("ServiceUnavailableException", 503), "AWS has trouble of its own"),
        (LOST, "AWS can't be reached"),
    ],
)
def test_what_passes_is_tried_again_and_said_once(
    logs: _Logs, said: list[str], trouble: Exception, why: str
) -> None:
    logs.put(BASE, BASE + 1, BASE + 2)
    logs.troubles = [trouble, trouble]
    time = _Time()
    assert _ids(_reader(logs, said, time).pages(QUERY)) == ["0", "1", "2"]
    assert said == [f"{why}: trying again", "AWS answers again"]
    assert [round(one) for one in time.slept if one >= 1] == [1, 2]


def test_what_doesnt_pass_is_an_error_at_once(logs: _Logs, said: list[str]) -> None:
    logs.troubles = [_refusal("AccessDeniedException")]
    with pytest.raises(ClientError):
        list(_reader(logs, said).pages(QUERY))
    assert len(logs.asked) == 1


def test_patience_has_an_end_where_nobody_follows(logs: _Logs, said: list[str]) -> None:
    logs.troubles = [LOST] * 9
    with pytest.raises(EndpointConnectionError):
        list(_reader(logs, said).pages(QUERY))
    assert len(logs.asked) == 3


def test_an_aws_that_never_answers_isnt_asked_over_and_over(
    logs: _Logs, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK gives a call up after four tries of 20 s each; three times that is four minutes."""
    time = _Time()

    def never(**words: Any) -> Any:
        logs.asked.append(words)
        time.now += 83
        raise ReadTimeoutError(endpoint_url="https://logs")

    monkeypatch.setattr(logs, "filter_log_events", never)
    with pytest.raises(ReadTimeoutError):
        list(_reader(logs, said, time).pages(QUERY))
    assert len(logs.asked) == 1
    assert time.now < 90


def test_a_follower_goes_on_after_an_hour_without_a_network(logs: _Logs, said: list[str]) -> None:
    logs.troubles = [LOST] * 150
    time = _Time()
    logs.put(BASE)
    follower = Follower(_reader(logs, said, time, tries=None), QUERY, lambda: BASE / 1000)
    assert _ids(follower.look()) == ["0"]
    assert time.now > 3600
    assert max(time.slept) <= 30


def test_a_late_line_is_shown_once(logs: _Logs, said: list[str]) -> None:
    follower = Follower(_reader(logs, said), QUERY, lambda: BASE / 1000 + 600)
    logs.put(BASE, BASE + 60_000)
    assert _ids(follower.look()) == ["0", "1"]
    logs.put(BASE + 60_000 - LATE_MS + 1)
    assert _ids(follower.look()) == ["2"]
    assert _ids(follower.look()) == []


def test_a_node_whose_clock_is_ahead_hides_no_other_nodes_lines(logs: _Logs, said: list[str]) -> None:
    follower = Follower(_reader(logs, said), QUERY, lambda: BASE / 1000)
    logs.put(BASE + 3_600_000)
    assert _ids(follower.look()) == ["0"]
    logs.put(BASE + 1000)
    assert _ids(follower.look()) == ["1"]


def test_what_was_shown_before_isnt_shown_again(logs: _Logs, said: list[str]) -> None:
    logs.put(*(BASE + at for at in range(5)))
    reader = _reader(logs, said)
    first = reader.last(QUERY, 2)
    follower = Follower(reader, Query(QUERY.group, QUERY.prefix, first[0].ms), lambda: BASE / 1000)
    assert follower.shown(first) == first
    assert _ids(follower.look()) == []
    logs.put(BASE + 9)
    assert _ids(follower.look()) == ["5"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.integers(0, 120_000), st.integers(0, LATE_MS - 1)), max_size=6),
            st.sampled_from([None, LOST, _refusal("ThrottlingException")]),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_no_line_is_lost_or_doubled(
    rounds: list[tuple[list[tuple[int, int]], Exception | None]],
) -> None:
    """Each round some lines arrive, each as late as a node may be, and a call may fail."""
    logs, now, seen = _Logs(page=3), BASE, []
    follower = Follower(_reader(logs, [], tries=None), Query("g", "p", BASE), lambda: now / 1000)
    for lines, trouble in rounds:
        for ahead, late in lines:
            now += ahead
            logs.put(max(BASE, now - late))
        logs.troubles = [trouble] if trouble else []
        seen += _ids(follower.look())
    assert sorted(seen, key=int) == [one["eventId"] for one in logs.events]

"""The metadata service as the watcher sees it: every way in which an end is told, and every way it isn't."""

from __future__ import annotations

import email.message
import io
import time
import urllib.error
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import NoCredentialsError
from botocore.parsers import ResponseParserError
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.lifecycle import metadata
from bootstrap.lifecycle.metadata import Metadata, Said
from bootstrap.lifecycle.notice import Inbox, Interrupted, Notice
from bootstrap.lifecycle.watch import (
    REBALANCE,
    SILENT_AFTER,
    SPOT,
    SPOT_S,
    STATE,
    Clocks,
    Watcher,
    end_notice,
    spot_notice,
)

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


class Service:
    """Answers by path; an exception is raised."""

    def __init__(self, **answers: object) -> None:
        self.answers: dict[str, object] = {STATE: "InService"}
        self.asked: list[str] = []

    def get(self, path: str) -> Said | None:
        self.asked.append(path)
        answer = self.answers.get(path)
        if isinstance(answer, Exception):
            raise answer
        return Said(str(answer), NOON) if answer is not None else None


class Group:
    """Whether it ends the node; an exception is raised."""

    def __init__(self) -> None:
        self.answer: bool | Exception = False
        self.asked = 0

    def is_ended(self) -> bool:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Watch:
    def __init__(self) -> None:
        self.service, self.said, self.risks = Service(), list[str](), list[int]()
        self.group = Group()
        self.inbox = Inbox(self.said.append)
        clocks = Clocks(lambda: 1000.0, lambda: NOON)
        self.watcher = Watcher(
            self.service, self.group, self.inbox, self.said.append, lambda: self.risks.append(1), 5, clocks
        )

    def look(self, path: str, answer: object) -> Inbox:
        self.service.answers[path] = answer
        self.watcher.look()
        return self.inbox


def test_a_node_in_service_has_no_notice() -> None:
    watch = Watch()
    watch.watcher.look()
    assert watch.inbox.cause is None
    assert watch.service.asked == [SPOT, STATE, REBALANCE]


@pytest.mark.parametrize("state", ["InService", "Warmed:Stopped", "Standby", "", "terminated?"])
def test_only_terminated_is_an_end(state: str) -> None:
    assert end_notice(state) is None


def test_the_groups_end_is_a_notice_without_a_date() -> None:
    cause = Watch().look(STATE, "Terminated").cause
    assert cause is not None
    assert (cause.kind, cause.deadline) == ("end", None)


def spot(text: str, at: datetime | None = NOON, wall: datetime = NOON) -> Notice:
    return spot_notice(Said(text, at), 1000.0, wall)


def test_a_spot_notice_ends_at_its_time() -> None:
    notice = spot('{"action": "terminate", "time": "2026-12-01T12:01:30Z"}')
    assert (notice.kind, notice.deadline) == ("spot", 1090.0)


def test_the_services_own_clock_counts_and_not_the_nodes() -> None:
    wrong = NOON - timedelta(hours=8)
    notice = spot('{"action": "stop", "time": "2026-12-01T12:01:30Z"}', wall=wrong)
    assert notice.deadline == 1090.0
    silent = spot('{"action": "stop", "time": "2026-12-01T12:01:30Z"}', None, wrong)
    assert silent.deadline == 1000.0 + SPOT_S, "never more than two minutes"


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"action": "terminate"}', '{"action": 1, "time": "soon"}', "<html>", '"x"'],
)
def test_a_spot_notice_that_cannot_be_read_is_one_all_the_same(text: str) -> None:
    notice = spot(text)
    assert (notice.kind, notice.deadline) == ("spot", 1120.0)


@given(st.text(), st.datetimes(datetime(1990, 1, 1), datetime(2200, 1, 1)))
def test_whatever_stands_there_the_date_is_within_two_minutes(text: str, at: datetime) -> None:
    for told in (text, f'{{"action": "terminate", "time": "{at:%Y-%m-%dT%H:%M:%SZ}"}}'):
        notice = spot(told)
        assert notice.deadline is not None
        assert 1000.0 <= notice.deadline <= 1000.0 + SPOT_S


def test_a_recommendation_is_no_end_and_is_told_once() -> None:
    watch = Watch()
    for _ in range(3):
        watch.look(REBALANCE, '{"noticeTime": "2026-12-01T12:00:00Z"}')
    assert watch.inbox.cause is None
    assert watch.risks == [1]


@pytest.mark.parametrize("error", [OSError("no route"), TimeoutError(), ConnectionResetError()])
def test_a_service_that_does_not_answer_is_said_once_and_is_no_notice(error: Exception) -> None:
    watch = Watch()
    for _ in range(SILENT_AFTER + 5):
        watch.look(SPOT, error)
    assert watch.inbox.cause is None
    assert len([each for each in watch.said if "doesn't answer" in each]) == 1
    watch.look(SPOT, None)
    assert watch.said[-1] == "the metadata service answers again"


def test_a_silent_service_leaves_the_group_to_ask_and_nobody_else_asks_it() -> None:
    watch = Watch()
    watch.look(SPOT, None)
    for _ in range(SILENT_AFTER - 1):
        watch.look(SPOT, OSError("no route"))
    assert watch.group.asked == 0, "a single lost answer is nothing"
    assert watch.look(SPOT, OSError("no route")).cause is None
    watch.group.answer = True
    cause = watch.look(SPOT, OSError("no route")).cause
    assert cause is not None
    assert (cause.kind, cause.deadline) == ("end", None)
    asked = watch.group.asked
    watch.look(SPOT, None)
    assert watch.group.asked == asked


def test_a_group_that_cannot_be_asked_either_is_said_once_and_asked_again() -> None:
    watch = Watch()
    watch.group.answer = NoCredentialsError()
    for _ in range(SILENT_AFTER + 5):
        watch.look(SPOT, OSError("no route"))
    assert watch.inbox.cause is None
    assert len([each for each in watch.said if "nor does its group" in each]) == 1
    watch.group.answer = True
    assert watch.look(SPOT, OSError("no route")).kinds == {"end"}


def test_a_node_that_drains_asks_no_more_since_each_question_renews_the_hook() -> None:
    watch = Watch()
    watch.group.answer = True
    for _ in range(SILENT_AFTER + 20):
        watch.look(SPOT, OSError("no route"))
    assert watch.group.asked == 1


def test_an_answer_that_no_client_understands_ends_no_watcher() -> None:
    watch = Watch()
    watch.watcher._every_s = 0.005
    watch.service.answers[SPOT] = OSError("no route")
    watch.group.answer = ResponseParserError("<html>captive")
    watch.watcher.start()
    end = time.monotonic() + 5
    while watch.group.asked < 3 and time.monotonic() < end:
        time.sleep(0.005)
    watch.group.answer = True
    while watch.inbox.cause is None and time.monotonic() < end:
        time.sleep(0.005)
    watch.watcher.stop()
    assert watch.inbox.kinds == {"end"}


def test_a_watcher_that_meets_what_nobody_thought_of_goes_on() -> None:
    watch = Watch()
    watch.watcher._every_s = 0.005
    watch.watcher.start()
    watch.service.answers[SPOT] = KeyError("nobody thought of it")
    end = time.monotonic() + 5
    while not watch.said and time.monotonic() < end:
        time.sleep(0.005)
    watch.service.answers[SPOT] = None
    watch.service.answers[STATE] = "Terminated"
    while watch.inbox.cause is None and time.monotonic() < end:
        time.sleep(0.005)
    watch.watcher.stop()
    assert "nobody thought of it" in watch.said[0]
    assert watch.inbox.cause is not None


def test_a_single_lost_answer_is_not_worth_a_word() -> None:
    watch = Watch()
    watch.look(SPOT, OSError("lost"))
    watch.look(SPOT, None)
    assert watch.said == []


def test_the_first_notice_is_the_cause_and_repeats_are_silent() -> None:
    said: list[str] = []
    inbox = Inbox(said.append)
    inbox.check()
    for _ in range(5):
        inbox.put(Notice("end", "the group"))
    inbox.put(Notice("spot", "EC2", 50.0))
    inbox.put(Notice("spot", "EC2", 60.0))
    inbox.put(Notice("spot", "EC2", 40.0))
    assert inbox.cause == Notice("end", "the group")
    assert (inbox.by, inbox.kinds) == (40.0, {"end", "spot"})
    assert len(said) == 3
    with pytest.raises(Interrupted, match="the group"):
        inbox.check()


def test_an_interruption_is_not_taken_for_a_failure_of_what_was_done() -> None:
    assert not issubclass(Interrupted, Exception)


class Reply(io.BytesIO):
    """An answer's body with its headers, as urllib gives it."""

    def __init__(self, text: str, headers: email.message.Message) -> None:
        super().__init__(text.encode())
        self.headers = headers


class Opener:
    """urllib's, with answers by (method, path); tokens are counted."""

    def __init__(self, answer: Callable[[str, str], tuple[int, str]]) -> None:
        self.answer, self.tokens, self.seen = answer, 0, list[str]()

    def open(self, request: Any, timeout: float) -> Any:
        assert timeout <= 2
        if request.get_method() == "PUT":
            self.tokens += 1
            assert request.get_header("X-aws-ec2-metadata-token-ttl-seconds") == "21600"
            return self._reply(200, f"token-{self.tokens}")
        token = request.get_header("X-aws-ec2-metadata-token")
        self.seen.append(token)
        return self._reply(*self.answer(request.full_url, token))

    def _reply(self, code: int, text: str) -> Any:
        headers = email.message.Message()
        headers["Date"] = "Tue, 01 Dec 2026 12:00:00 GMT"
        if code != 200:
            raise urllib.error.HTTPError("x", code, "no", headers, io.BytesIO(b""))
        return Reply(text, headers)


def client(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[str, str], tuple[int, str]], clock: list[float]
) -> tuple[Metadata, Opener]:
    opener = Opener(answer)
    monkeypatch.setattr(metadata, "_OPENER", opener)
    return Metadata("http://imds/", lambda: clock[0]), opener


def test_one_token_serves_many_looks_until_half_of_its_life(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    asks, opener = client(monkeypatch, lambda *_: (200, " InService\n"), clock)
    assert [asks.get(STATE) for _ in range(10)] == [Said("InService", NOON)] * 10
    assert opener.tokens == 1
    clock[0] = 10_801.0
    asks.get(STATE)
    assert opener.tokens == 2


def test_a_token_that_is_refused_is_renewed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asks, opener = client(
        monkeypatch, lambda _, token: (401, "") if token == "token-1" else (200, "Terminated"), [0.0]
    )
    assert asks.get(STATE) == Said("Terminated", NOON)
    assert opener.tokens == 2


def test_tokens_that_are_refused_again_and_again_are_an_error_and_no_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asks, opener = client(monkeypatch, lambda *_: (401, ""), [0.0])
    with pytest.raises(OSError, match="401"):
        asks.get(STATE)
    assert opener.tokens == 2


def test_what_is_not_there_is_none_and_what_is_refused_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    asks, _ = client(monkeypatch, lambda url, _: (404 if url.endswith(SPOT) else 500, ""), [0.0])
    assert asks.get(SPOT) is None
    with pytest.raises(OSError, match="500"):
        asks.get(STATE)

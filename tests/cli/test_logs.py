"""logs: what is asked for, what is printed, and the words where there is nothing."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nightshift.cli import verb_logs
from nightshift.cli.errors import UsageError
from nightshift.cli.main import run
from nightshift.cli.verb_logs import Asked, decide, query_of
from nightshift.plan.names import group_name

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
DESK = group_name("lab", "desk")
NODE, OLD = "i-0abc0000000000001", "i-0abc0000000000009"


class _Missing(Exception):
    pass


class _Logs:
    """A log group as the verb asks it; `streams` None: there is no such log group."""

    class exceptions:
        ResourceNotFoundException = _Missing

    def __init__(self) -> None:
        self.streams: list[str] | None = []
        self.events: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.interrupt_at = 10**9

    def put(self, ago: timedelta, text: str, node: str = NODE, part: str = "job", group: str = DESK) -> None:
        stream = f"{group}/{node}/{part}"
        assert self.streams is not None
        if stream not in self.streams:
            self.streams.append(stream)
        ms = int((NOW - ago).timestamp() * 1000)
        event = {"eventId": str(len(self.events)), "timestamp": ms, "message": text}
        self.events.append({**event, "logStreamName": stream})

    def filter_log_events(self, **words: Any) -> Any:
        self.asked.append(words)
        if self.streams is None:
            raise _Missing
        if len(self.asked) >= self.interrupt_at:
            raise KeyboardInterrupt
        fit = [
            one
            for one in self.events
            if one["logStreamName"].startswith(words["logStreamNamePrefix"])
            and words["startTime"] <= one["timestamp"] <= words.get("endTime", 10**15)
        ]
        backward = words.get("startFromHead") is False
        fit.sort(key=lambda one: one["timestamp"], reverse=backward)
        return {"events": fit[: words["limit"]]}

    def get_paginator(self, operation: str) -> Any:
        assert operation == "describe_log_streams"
        return self

    def paginate(self, logGroupName: str, logStreamNamePrefix: str) -> Any:
        names = [one for one in self.streams or () if one.startswith(logStreamNamePrefix)]
        return [{"logStreams": [{"logStreamName": one} for one in names]}]


@pytest.fixture(name="logs")
def _logs(monkeypatch: pytest.MonkeyPatch) -> _Logs:
    logs = _Logs()

    class _Aws:
        def client(self, service: str) -> Any:
            assert service == "logs"
            return logs

    monkeypatch.setattr("nightshift.cli.context.Context.connect", lambda *_: _Aws())
    monkeypatch.setattr("nightshift.cli.log_reading.PACE_S", 0.0)
    monkeypatch.setattr("nightshift.cli.verb_logs.POLL_S", 0.0)
    return logs


Say = Callable[..., tuple[int, list[str], list[str]]]


@pytest.fixture(name="say")
def _say(project: Any) -> Say:
    def say(*words: str) -> tuple[int, list[str], list[str]]:
        """Status, lines on stdout, words on stderr."""
        put: list[str] = []
        said: list[str] = []
        context = replace(project.context(), put=put.append, say=said.append)
        return run(["logs", *words], context), put, said

    return say


def test_the_newest_lines_are_printed_in_order_with_local_times(logs: _Logs, say: Say) -> None:
    logs.put(timedelta(days=2), "first", OLD)
    logs.put(timedelta(minutes=1), "third")
    logs.put(timedelta(minutes=2), "second \x1b[2J\x1b[31mred")
    logs.put(timedelta(minutes=2), "another group", group=group_name("lab", "vit"))
    code, put, said = say("desk")
    assert (code, said) == (0, [])
    assert put == [
        f"== {OLD}",
        "2026-11-29 17:00:00 CST first",
        f"== {NODE}",
        "2026-12-01 16:58:00 CST second red",
        "2026-12-01 16:59:00 CST third",
    ]


def test_lines_and_since_bound_what_is_read(logs: _Logs, say: Say) -> None:
    for minute in range(5, 0, -1):
        logs.put(timedelta(minutes=minute), f"{minute} min ago")
    assert [line[24:] for line in say("desk", "--lines", "2")[1][1:]] == ["2 min ago", "1 min ago"]
    assert [line[24:] for line in say("desk", "--since", "3m", "--until", "2m")[1][1:]] == [
        "3 min ago",
        "2 min ago",
    ]
    assert len(say("desk", "--since", "4m", "--lines", "3")[1]) == 1 + 3


def test_one_node_and_one_stream_can_be_asked_for(logs: _Logs, say: Say) -> None:
    logs.put(timedelta(minutes=2), "of one")
    logs.put(timedelta(minutes=1), "of the other", OLD)
    logs.put(timedelta(minutes=1), "of the agent", part="agent")
    assert say("desk", "--node", OLD)[1] == [f"== {OLD}", "2026-12-01 16:59:00 CST of the other"]
    assert logs.asked[-1]["logStreamNamePrefix"] == f"{DESK}/{OLD}/"
    assert say("desk", "--stream", "agent")[1][1:] == ["2026-12-01 16:59:00 CST of the agent"]
    assert say("desk", "--node", NODE, "--stream", "job", "--since", "1h")[1][1:] == [
        "2026-12-01 16:58:00 CST of one"
    ]


def test_following_prints_what_is_new_and_ctrl_c_ends_it_well(
    logs: _Logs, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.put(timedelta(minutes=1), "before")
    looks = []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 1:
            logs.put(timedelta(seconds=30), "meanwhile")
        if len(looks) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(verb_logs.time, "sleep", sleep)
    code, put, _ = say("desk", "--follow")
    assert code == 0
    assert [line[24:] for line in put[1:]] == ["before", "meanwhile"]


def test_a_follower_waits_for_the_first_line(logs: _Logs, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb_logs.time, "sleep", lambda seconds: logs.put(timedelta(0), "first"))
    logs.interrupt_at = 4
    code, put, said = say("desk", "--follow")
    assert (code, said) == (0, ["desk has no log yet: it has no job"])
    assert [line[24:] for line in put[1:]] == ["first", "first"]


def test_json_has_the_lines_to_the_letter(logs: _Logs, say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    logs.put(timedelta(minutes=1, milliseconds=5), "\x1b[31mred")
    assert say("desk", "--json")[0] == 0
    told = json.loads(capsys.readouterr().out)
    assert told["events"] == [
        {"id": "0", "at": "2026-12-01T08:58:59.995Z", "node": NODE, "stream": "job", "text": "\x1b[31mred"}
    ]
    assert (told["group"], told["since"], told["until"]) == ("desk", "2026-11-01T09:00:00Z", None)


def test_where_there_is_nothing_it_says_why(logs: _Logs, say: Say) -> None:
    assert say("desk") == (0, [], ["desk has no log yet: it has no job"])
    logs.put(timedelta(hours=3), "old")
    code, put, said = say("desk", "--since", "2h")
    assert (code, put) == (0, [])
    assert said == ["desk: no line from Tue 2026-12-01 15:00 CST on"]
    assert say("desk", "--node", OLD, "--json")[0] == 1
    code, _, said = say("desk", "--node", OLD)
    assert (code, said) == (1, [f"{OLD} has no log; desk has those of {NODE}"])
    assert say("desk", "--stream", "agent")[::2] == (1, ["no stream agent; desk has job"])


def test_what_retention_took_is_said(logs: _Logs, say: Say) -> None:
    code, _, said = say("desk", "--since", "2026-10-01")
    assert code == 0
    assert said[0] == "lines are kept for 30 days (site.log_days): older ones are gone"
    assert logs.asked[0]["startTime"] == int((NOW - timedelta(days=30)).timestamp() * 1000)


def test_json_says_why_it_is_empty(logs: _Logs, say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    logs.put(timedelta(hours=3), "old")
    for words, code, why in (
        (("--stream", "nope"), 1, "no stream nope; desk has job"),
        (("--since", "2h"), 0, "desk: no line from Tue 2026-12-01 15:00 CST on"),
        ((), 0, None),
    ):
        assert say("desk", *words, "--json")[0] == code
        assert json.loads(capsys.readouterr().out)["why"] == why


def test_a_time_before_all_that_is_kept_is_told_so(
    logs: _Logs, say: Say, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not as a span that ends before it begins."""
    code, put, said = say("desk", "--until", "2026-10-01")
    told = " ".join(line.strip() for line in said)
    assert (code, put, logs.asked) == (0, [], [])
    assert told == (
        "desk: no line is left up to Thu 2026-10-01 00:00 CST: the oldest that is kept is of "
        "Sun 2026-11-01 17:00 CST or later (site.log_days: 30)"
    )
    assert max(map(len, said)) <= 80
    assert say("desk", "--since", "2026-09-01", "--until", "2026-10-01", "--json")[0] == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["events"], data["why"]) == ([], told)


def test_before_the_first_deployment_it_says_so(
    logs: _Logs, say: Say, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.streams = None
    assert say("desk")[0] == 1
    assert "log group /nightshift/lab isn't deployed" in capsys.readouterr().err


def _args(**given: Any) -> argparse.Namespace:
    whole = {"group": "desk", "node": None, "stream": None, "since": None, "until": None, "lines": None}
    return argparse.Namespace(**{**whole, "follow": False, "json": False, **given})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"group": "desc"}, "Did you mean desk?"),
        ({"node": "desk-1"}, "expected an instance id"),
        ({"stream": "a/b*"}, "expected a stream's last part"),
        ({"lines": 0}, "expected 1 to 100000"),
        ({"lines": -3}, "expected 1 to 100000"),
        ({"since": "soon"}, "--since: given 'soon', expected such as"),
        ({"until": "2026-12-02"}, "still to come"),
        ({"since": "1h", "until": "2h"}, "is after --until"),
        ({"follow": True, "until": "1h"}, "it takes no --until"),
        ({"follow": True, "json": True}, "leave one of them out"),
    ],
)
def test_wrong_words_are_told_with_what_is_allowed(project: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        decide(_args(**given), project.stack, NOW)
    assert said in str(caught.value)


def test_all_problems_are_told_at_once(project: Any) -> None:
    with pytest.raises(UsageError) as caught:
        decide(_args(node="x", lines=0, since="never"), project.stack, NOW)
    assert len(caught.value.lines) == 3


def test_no_query_begins_before_what_can_be_read_backwards(project: Any) -> None:
    project.file.write_text(
        project.file.read_text().replace("owner: vision", "owner: vision\n    log_days: 1096")
    )
    assert decide(_args(), project.stack, NOW).since == datetime(2024, 1, 1, tzinfo=UTC)


def test_a_query_names_the_groups_streams_and_no_other_groups(project: Any) -> None:
    asked = Asked("desk", NOW, NOW, None, NODE, "job")
    query = query_of(project.stack, asked)
    assert (query.group, query.prefix) == ("/nightshift/lab", f"{DESK}/{NODE}/job")
    assert query_of(project.stack, replace(asked, node=None)).prefix == f"{DESK}/"

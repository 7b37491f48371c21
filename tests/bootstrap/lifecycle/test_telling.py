"""Heartbeats, completions, chores and bounded calls: AWS may refuse or hang, the work goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.lifecycle.bounded import TookTooLong, bounded
from bootstrap.lifecycle.chores import Chore, Chores
from bootstrap.lifecycle.completion import tell
from bootstrap.lifecycle.heartbeats import Heartbeats
from bootstrap.storage.waiting import Clock

OUT = EndpointConnectionError(endpoint_url="autoscaling")


def until(what: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Whether it comes true in time."""
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.005)
    return what()


class Beats:
    """A hook that answers as told, then as the last answer said."""

    def __init__(self, *answers: object) -> None:
        self.answers, self.hooks, self.said = list(answers), list[str](), list[str]()

    def __call__(self, hook: str) -> bool:
        self.hooks.append(hook)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return bool(answer)

    def running(self, limit_s: float = 60) -> Heartbeats:
        return Heartbeats(self, "drain", limit_s, self.said.append, every_s=0.01)


def test_heartbeats_go_on_while_the_work_does_and_end_with_it() -> None:
    beats = Beats(True)
    with beats.running() as running:
        assert until(lambda: running.sent >= 3)
    time.sleep(0.05)
    sent = len(beats.hooks)
    time.sleep(0.05)
    assert len(beats.hooks) == sent
    assert set(beats.hooks) == {"drain"}


def test_a_heartbeat_that_fails_is_said_and_never_reaches_the_work() -> None:
    beats = Beats(OUT, OUT, True)
    with beats.running() as running:
        assert until(lambda: running.sent >= 1)
    assert len(beats.said) == 2
    assert "no heartbeat" in beats.said[0]


def test_a_hook_that_nobody_waits_for_hears_no_more() -> None:
    beats = Beats(False)
    with beats.running():
        assert until(lambda: len(beats.hooks) == 1)
        time.sleep(0.06)
    assert len(beats.hooks) == 1


def test_a_node_that_hangs_is_given_up_by_its_hook() -> None:
    beats = Beats(True)
    with beats.running(limit_s=0.0):
        assert until(lambda: bool(beats.said))
    assert beats.hooks == []


class Turned:
    def __init__(self) -> None:
        self.now, self.slept = 0.0, list[float]()
        self.clock = Clock(lambda: self.now, self._sleep)

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_a_group_is_told_until_it_has_heard() -> None:
    time_, answers = Turned(), [OUT, OUT, True]

    def act() -> bool:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return bool(answer)

    told = tell(act, 60, time_.clock)
    assert (told.heard, told.waited, told.tries) == (True, True, 3)
    assert time_.slept == [1.0, 2.0]


@given(st.floats(0, 300))
def test_a_group_that_never_hears_is_given_up_in_time_after_at_least_one_try(within: float) -> None:
    time_ = Turned()

    def act() -> bool:
        raise ClientError({"Error": {"Code": "Throttling", "Message": "slow down"}}, "Complete")

    told = tell(act, within, time_.clock)
    assert not told.heard
    assert told.tries >= 1
    assert "slow down" in told.says
    assert time_.now <= within


def test_a_bounded_call_gives_its_answer_or_its_error() -> None:
    assert bounded("x", lambda: 7, 5) == 7
    with pytest.raises(KeyError):
        bounded("x", lambda: {}["no"], 5)


def test_a_bounded_call_that_hangs_is_left_behind() -> None:
    held = threading.Event()
    with pytest.raises(TookTooLong, match="tell AWS: no answer within"):
        bounded("tell AWS", lambda: held.wait(20), 0.02)
    held.set()


def test_a_chore_that_aws_refuses_is_said_and_done_again_and_others_go_on() -> None:
    said, done = list[str](), list[int]()
    answers: list[object] = [OUT]

    def refused() -> None:
        if answers:
            raise OUT

    chores = [Chore("hours", 0.01, refused), Chore("guard", 0.01, lambda: done.append(1))]
    with Chores(chores, said.append, turn_s=0.005) as running:
        assert until(lambda: len(said) >= 2 and len(done) >= 2)
        running.check()
    assert said[0].startswith("hours: ")


def test_a_chore_that_breaks_is_an_error_of_the_agent_and_not_silence() -> None:
    def broken() -> None:
        raise ZeroDivisionError

    with Chores([Chore("x", 1, broken)], print, turn_s=0.005) as running:
        assert until(lambda: not running._thread.is_alive())
        with pytest.raises(ZeroDivisionError):
            running.check()

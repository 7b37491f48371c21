"""A drill leaves nothing behind, whatever happens, and takes nothing of anybody else."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from infra.live_ec2 import read_volumes
from nightshift.cli.drill import TAG_DRILL, Clock, Drill, cents
from nightshift.cli.errors import CliError
from nightshift.cli.interrupts import ENDING
from nightshift.cli.status_facts import read_volumes as status_volumes
from nightshift.cli.verb_restore import gather
from nightshift.plan import names
from tests.cli.conftest import snapshot, volume_ids
from tests.cli.support.watched import Watched

SITE = {"nightshift:site": "lab"}


def _drill(ec2: Any, project: Any, said: list[str] | None = None) -> Drill:
    passed = [0.0]

    def sleep(seconds: float) -> None:
        passed[0] += seconds

    lines = [] if said is None else said
    return Drill(ec2, project.stack, lines.append, Clock(lambda: passed[0], sleep))


def _run(one: Drill, ec2: Any, project: Any) -> Any:
    newest = gather(ec2, project.stack, "runs").snapshots[0]
    return one.run("runs", newest, datetime.now(UTC))


def test_the_scratch_volume_is_nobodys_while_it_lives(ec2: Any, project: Any) -> None:
    """Neither the program's look at the site nor `status` takes it for a volume of the site."""
    snapshot(ec2)
    seen: dict[str, Any] = {}

    def look(call: dict[str, Any]) -> None:
        made = call["answer"]["VolumeId"]
        seen["program"] = made in {each.volume.id for each in read_volumes(ec2, "lab", ())}
        seen["status"] = made in {disk.id for disk in status_volumes(ec2, "lab")}
        (raw,) = ec2.describe_volumes(VolumeIds=[made])["Volumes"]
        seen["tags"] = {tag["Key"]: tag["Value"] for tag in raw["Tags"]}

    _run(_drill(Watched(ec2, create_volume=look), project), ec2, project)
    assert (seen["program"], seen["status"]) == (False, False)
    assert seen["tags"]["nightshift:site"] == "lab"
    assert not {names.TAG_VOLUME, names.TAG_SNAPSHOTS} & set(seen["tags"])


@pytest.fixture(autouse=True)
def _heeds(heeded: None) -> None:
    """Signals end things here."""


def _interrupt(call: dict[str, Any]) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("at", ["create_volume", "describe_volumes"])
def test_ctrl_c_at_any_point_leaves_nothing(ec2: Any, project: Any, at: str) -> None:
    """At create_volume the answer never comes back: the volume is found by this process's tag."""
    snapshot(ec2)
    before = volume_ids(ec2)
    newest = gather(ec2, project.stack, "runs").snapshots[0]
    one = _drill(Watched(ec2, **{at: _interrupt}), project)
    with pytest.raises(KeyboardInterrupt):
        one.run("runs", newest, datetime.now(UTC))
    assert volume_ids(ec2) == before


def test_a_second_ctrl_c_doesnt_keep_it_from_being_deleted(ec2: Any, project: Any) -> None:
    snapshot(ec2)
    before, handled = volume_ids(ec2), []

    def again(call: dict[str, Any]) -> None:
        handled.append(signal.getsignal(signal.SIGINT))
        os.kill(os.getpid(), signal.SIGINT)

    one = _drill(Watched(ec2, delete_volume=again), project)
    _run(one, ec2, project)
    assert handled == [signal.SIG_IGN]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert volume_ids(ec2) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("at", ["create_volume", "describe_volumes"])
def test_whatever_ends_it_leaves_nothing(ec2: Any, project: Any, number: signal.Signals, at: str) -> None:
    """A signal while AWS makes the volume waits for the answer, and so for the id."""
    snapshot(ec2)
    before, said = volume_ids(ec2), []
    handlers = [signal.getsignal(one) for one in ENDING]
    sent: list[int] = []

    def send(call: dict[str, Any]) -> None:
        if not sent:
            sent.append(number)
            os.kill(os.getpid(), number)

    with pytest.raises(KeyboardInterrupt):
        _run(_drill(Watched(ec2, **{at: send}), project, said), ec2, project)
    assert volume_ids(ec2) == before
    assert [signal.getsignal(one) for one in ENDING] == handlers
    if at == "create_volume":
        assert said[0].startswith("ends as soon as AWS has answered")
        assert "being made of" in said[1]


def test_what_nohup_ignores_stays_ignored(ec2: Any, project: Any) -> None:
    snapshot(ec2)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def hang_up(call: dict[str, Any]) -> None:
        os.kill(os.getpid(), signal.SIGHUP)

    try:
        assert _run(_drill(Watched(ec2, create_volume=hang_up), project), ec2, project).wrong == ()
    finally:
        signal.signal(signal.SIGHUP, before)


class _Late:
    """EC2 that doesn't answer CreateVolume, and makes the volume a few looks later."""

    def __init__(self, ec2: Any, error: BaseException) -> None:
        self._ec2, self._error, self._looks = ec2, error, 0
        self._words: dict[str, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ec2, name)

    def create_volume(self, **words: Any) -> Any:
        self._words = words
        raise self._error

    def get_paginator(self, operation: str) -> Any:
        self._looks += self._words is not None
        if self._looks == 3 and self._words is not None:
            assert len(self._words["ClientToken"]) == 32
            self._ec2.create_volume(**self._words)
        return self._ec2.get_paginator(operation)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), EndpointConnectionError(endpoint_url="x")])
def test_one_that_turns_up_after_the_end_is_waited_for(ec2: Any, project: Any, error: BaseException) -> None:
    snapshot(ec2)
    before, said = volume_ids(ec2), []
    late = _Late(ec2, error)
    with pytest.raises(type(error)):
        _run(_drill(late, project, said), ec2, project)
    assert late._looks == 3
    assert volume_ids(ec2) == before
    assert "looking for a scratch volume that AWS may have made, 20 s at most" in said


def test_when_aws_is_lost_it_says_what_to_look_for(ec2: Any, project: Any) -> None:
    snapshot(ec2)
    lost = EndpointConnectionError(endpoint_url="x")

    class _Lost(_Late):
        def get_paginator(self, operation: str) -> Any:
            if self._words is not None:
                raise lost
            return self._ec2.get_paginator(operation)

    one = _drill(_Lost(ec2, lost), project)
    with pytest.raises(CliError, match=f"with the tag nightshift:drill={re.escape(one.owner)}"):
        _run(one, ec2, project)


def test_a_wider_answer_than_asked_for_deletes_nothing_of_others(ec2: Any, project: Any) -> None:
    """Tags are compared after the answer, to the letter."""
    other = ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]

    class _Loose:
        exceptions = ec2.exceptions

        def get_paginator(self, operation: str) -> Any:
            return self

        def paginate(self, **_: Any) -> Any:
            return [ec2.describe_volumes()]

    assert _drill(_Loose(), project).sweep(datetime.now(UTC) + timedelta(hours=2)) == []
    assert other in volume_ids(ec2)


def _state(state: str) -> Callable[[dict[str, Any]], Any]:
    def change(call: dict[str, Any]) -> Any:
        for raw in call["answer"]["Volumes"]:
            raw["State"] = state
        return call["answer"]

    return change


def test_a_volume_in_error_is_told_and_deleted(ec2: Any, project: Any) -> None:
    snapshot(ec2)
    before = volume_ids(ec2)
    with pytest.raises(CliError, match=r"became error: may this account use the snapshot's key"):
        _run(_drill(Watched(ec2, describe_volumes=_state("error")), project), ec2, project)
    assert volume_ids(ec2) == before


def test_one_that_takes_for_ever_is_given_up_with_progress_said(
    ec2: Any, project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nightshift.cli.drill.PATIENCE_S", 60.0)
    snapshot(ec2)
    before, said = volume_ids(ec2), []
    with pytest.raises(CliError, match="still being made after 1 min"):
        _run(_drill(Watched(ec2, describe_volumes=_state("creating")), project, said), ec2, project)
    assert volume_ids(ec2) == before
    assert any("creating, 10 s" in line for line in said)


def test_what_isnt_as_it_should_is_a_problem(ec2: Any, project: Any) -> None:
    snapshot(ec2)

    def plain(call: dict[str, Any]) -> Any:
        for raw in call["answer"]["Volumes"]:
            raw.update(Encrypted=False, Size=7, SnapshotId="", AvailabilityZone="us-east-1b")
        return call["answer"]

    outcome = _run(_drill(Watched(ec2, describe_volumes=plain), project), ec2, project)
    assert len(outcome.wrong) == 4
    assert "it isn't encrypted" in outcome.wrong


def _raising(*errors: Exception) -> Callable[[dict[str, Any]], None]:
    left = list(errors)

    def happens(call: dict[str, Any]) -> None:
        if left:
            raise left.pop(0)

    return happens


def _refusal(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}}, "DeleteVolume")


class _Refusing(Watched):
    """Refuses to delete before it does."""

    def __getattr__(self, name: str) -> Any:
        happens, real = self._happens.get(name), getattr(self._ec2, name)

        def call(**words: Any) -> Any:
            if happens is not None:
                happens(words)
            return real(**words)

        return call if happens else real


@pytest.mark.parametrize(
    "error",
    [_refusal("IncorrectState"), _refusal("RequestLimitExceeded"), EndpointConnectionError(endpoint_url="x")],
)
def test_deleting_is_tried_again_while_that_helps(ec2: Any, project: Any, error: Exception) -> None:
    snapshot(ec2)
    before = volume_ids(ec2)
    _run(_drill(_Refusing(ec2, delete_volume=_raising(error, error)), project), ec2, project)
    assert volume_ids(ec2) == before


def test_one_that_may_not_be_deleted_is_named_with_the_command(ec2: Any, project: Any) -> None:
    snapshot(ec2)
    denied = _raising(*[_refusal("UnauthorizedOperation")] * 9)
    with pytest.raises(
        CliError, match=r"(?s)is left and costs.*aws ec2 delete-volume --region us-east-1 --volume-id vol-"
    ):
        _run(_drill(_Refusing(ec2, delete_volume=denied), project), ec2, project)


def _left(ec2: Any, owner: str) -> str:
    tags = [{"Key": key, "Value": value} for key, value in {**SITE, TAG_DRILL: owner}.items()]
    made = ec2.create_volume(
        AvailabilityZone="us-east-1a", Size=1, TagSpecifications=[{"ResourceType": "volume", "Tags": tags}]
    )
    return str(made["VolumeId"])


def test_what_a_killed_drill_left_is_removed_and_a_running_one_let_be(ec2: Any, project: Any) -> None:
    one = _drill(ec2, project)
    host = one.owner.rpartition(".")[0]
    dead, mine, elsewhere = _left(ec2, f"{host}.999999999"), _left(ec2, one.owner), _left(ec2, "other-host.1")
    assert one.sweep(datetime.now(UTC)) == [dead]
    assert {mine, elsewhere} <= volume_ids(ec2)
    assert sorted(one.sweep(datetime.now(UTC) + timedelta(hours=2))) == sorted([mine, elsewhere])
    assert len(status_volumes(ec2, "lab")) == 2


@pytest.mark.parametrize(
    ("usd", "said"), [("0.0001", "less than a cent"), ("0.011", "2 cents"), ("1", "100 cents")]
)
def test_cents_are_rounded_up(usd: str, said: str) -> None:
    assert cents(Decimal(usd)) == said

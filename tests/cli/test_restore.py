"""restore on the emulated AWS in this process: what is listed, told and drilled, and that nothing is left."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from infra.live_ec2 import read_volumes
from nightshift.cli import drill
from nightshift.cli.drill import TAG_DRILL, Clock, Drill, cents
from nightshift.cli.errors import CliError
from nightshift.cli.status_facts import read_volumes as status_volumes
from nightshift.cli.verb_restore import gather
from nightshift.plan import names

SITE = {"nightshift:site": "lab"}


@pytest.fixture(name="ec2")
def _ec2(deployed: Callable[[str], Any]) -> Any:
    return deployed("ec2")


@pytest.fixture(name="project", autouse=True)
def _now(project: Any) -> Any:
    """moto's snapshots are of the real now."""
    del project.env["NIGHTSHIFT_NOW"]
    return project


def _volume(ec2: Any, name: str = "runs") -> Any:
    filters = [{"Name": "tag:nightshift:volume", "Values": [name]}]
    return ec2.describe_volumes(Filters=filters)["Volumes"][0]


def _snapshot(ec2: Any, name: str = "runs", *, tagged: bool = True) -> str:
    """As a policy makes it: the volume's tags go along."""
    volume = _volume(ec2, name)
    kind = [{"ResourceType": "snapshot", "Tags": volume["Tags"]}] if tagged else []
    return str(ec2.create_snapshot(VolumeId=volume["VolumeId"], TagSpecifications=kind)["SnapshotId"])


def _ids(ec2: Any) -> set[str]:
    return {str(one["VolumeId"]) for one in ec2.describe_volumes()["Volumes"]}


def test_snapshots_are_listed_and_the_steps_told(
    ec2: Any, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    by_hand, newest = _snapshot(ec2, tagged=False), _snapshot(ec2)
    _snapshot(ec2, "imagenet")
    before = _ids(ec2)
    assert project.say("restore", "runs", "--snapshot", newest) == 0
    told = capsys.readouterr().out
    assert max(map(len, told.splitlines())) <= 80
    assert f"     runs:\n       from: {newest}\n" in told
    for words in (
        "hold desk vit --until",
        "retire runs",
        "pulumi refresh -s lab --yes",
        "pulumi up -s lab",
        "resume",
    ):
        assert words in told
    assert by_hand in told
    assert _ids(ec2) == before
    assert project.say("restore", "runs", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert {one["id"] for one in data["snapshots"]} == {by_hand, newest}
    assert (data["live"][0]["id"], data["drill"]) == (_volume(ec2)["VolumeId"], None)


def test_a_volume_that_is_gone_is_found_by_its_snapshots(
    ec2: Any, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot = _snapshot(ec2)
    ec2.delete_volume(VolumeId=_volume(ec2)["VolumeId"])
    assert project.say("restore", "runs", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["live"] == []
    assert (data["chosen"], "nightshift retire" in " ".join(data["commands"])) == (snapshot, False)


def test_without_a_snapshot_it_ends_with_1(
    ec2: Any, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert project.say("restore", "runs") == 1
    assert "no usable snapshot of runs" in capsys.readouterr().out
    assert project.say("restore", "runs", "--json") == 1
    assert json.loads(capsys.readouterr().out)["chosen"] is None


def test_an_old_snapshot_ends_with_1_and_the_policys_promise(
    ec2: Any, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    _snapshot(ec2)
    project.env["NIGHTSHIFT_NOW"] = f"{datetime.now(UTC) + timedelta(days=3):%Y-%m-%dT%H:%M:%SZ}"
    assert project.say("restore", "runs") == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "problem the newest snapshot is 3 days old; policy nightly makes one every 24 h" in told


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("absent",), 2),
        (("runs", "--snapshot", "vol-1"), 2),
        (("runs", "--snapshot", "snap-0dead0000"), 2),
        (("runs", "--index", "3"), 1),
    ],
)
def test_what_isnt_there_is_told(ec2: Any, project: Any, words: tuple[str, ...], code: int) -> None:
    _snapshot(ec2)
    assert project.say("restore", *words) == code


def test_another_sites_snapshot_is_none_of_ours(ec2: Any, project: Any) -> None:
    tags = [{"Key": key, "Value": value} for key, value in names.volume_tags("other", "runs", "x").items()]
    ec2.create_snapshot(
        VolumeId=_volume(ec2, "imagenet")["VolumeId"],
        TagSpecifications=[{"ResourceType": "snapshot", "Tags": tags}],
    )
    assert gather(ec2, project.stack, "runs").snapshots == []


def test_a_drill_makes_looks_and_deletes(ec2: Any, project: Any, capsys: pytest.CaptureFixture[str]) -> None:
    snapshot, before = _snapshot(ec2), _ids(ec2)
    assert project.say("restore", "runs", "--drill") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"drill: {snapshot}, 0 min old, became vol-" in told
    assert "it is deleted again" in told
    assert "proved: AWS makes an encrypted volume of 200 GiB of it here" in told
    assert "not proved: what is on it" in told
    assert "cost: less than a cent" in told
    assert _ids(ec2) == before
    assert project.say("restore", "runs", "--drill", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert 0 < data["drill"]["usd"] < 0.01
    assert data["drill"]["removed"] == []


class _Watched:
    """EC2 with something that happens at a call; all else is moto's."""

    def __init__(self, ec2: Any, **happens: Callable[[dict[str, Any]], Any]) -> None:
        self._ec2, self._happens = ec2, happens

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._ec2, name)
        happens = self._happens.get(name)
        if happens is None:
            return real

        def call(**words: Any) -> Any:
            answer = real(**words)
            changed = happens({"words": words, "answer": answer})
            return answer if changed is None else changed

        return call


def _drill(ec2: Any, project: Any, said: list[str] | None = None) -> Drill:
    passed = [0.0]

    def sleep(seconds: float) -> None:
        passed[0] += seconds

    lines = [] if said is None else said
    return Drill(ec2, project.stack, lines.append, Clock(lambda: passed[0], sleep))


def _run(one: Drill, ec2: Any, project: Any) -> Any:
    snapshot = gather(ec2, project.stack, "runs").snapshots[0]
    return one.run("runs", snapshot, datetime.now(UTC))


def test_the_scratch_volume_is_nobodys_while_it_lives(ec2: Any, project: Any) -> None:
    """Neither the program's look at the site nor `status` takes it for a volume of the site."""
    _snapshot(ec2)
    seen: dict[str, Any] = {}

    def look(call: dict[str, Any]) -> None:
        made = call["answer"]["VolumeId"]
        seen["program"] = made in {each.volume.id for each in read_volumes(ec2, "lab", ())}
        seen["status"] = made in {disk.id for disk in status_volumes(ec2, "lab")}
        (raw,) = ec2.describe_volumes(VolumeIds=[made])["Volumes"]
        seen["tags"] = {tag["Key"]: tag["Value"] for tag in raw["Tags"]}

    _run(_drill(_Watched(ec2, create_volume=look), project), ec2, project)
    assert (seen["program"], seen["status"]) == (False, False)
    assert seen["tags"]["nightshift:site"] == "lab"
    assert not {names.TAG_VOLUME, names.TAG_SNAPSHOTS} & set(seen["tags"])


def _interrupt(call: dict[str, Any]) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("at", ["create_volume", "describe_volumes"])
def test_ctrl_c_at_any_point_leaves_nothing(ec2: Any, project: Any, at: str) -> None:
    """At create_volume the answer never comes back: the volume is found by this process's tag."""
    _snapshot(ec2)
    before = _ids(ec2)
    snapshot = gather(ec2, project.stack, "runs").snapshots[0]
    one = _drill(_Watched(ec2, **{at: _interrupt}), project)
    with pytest.raises(KeyboardInterrupt):
        one.run("runs", snapshot, datetime.now(UTC))
    assert _ids(ec2) == before


def test_a_second_ctrl_c_doesnt_keep_it_from_being_deleted(ec2: Any, project: Any) -> None:
    _snapshot(ec2)
    before, handled = _ids(ec2), []

    def again(call: dict[str, Any]) -> None:
        handled.append(signal.getsignal(signal.SIGINT))
        os.kill(os.getpid(), signal.SIGINT)

    one = _drill(_Watched(ec2, delete_volume=again), project)
    _run(one, ec2, project)
    assert handled == [signal.SIG_IGN]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert _ids(ec2) == before


def _state(state: str) -> Callable[[dict[str, Any]], Any]:
    def change(call: dict[str, Any]) -> Any:
        for raw in call["answer"]["Volumes"]:
            raw["State"] = state
        return call["answer"]

    return change


def test_a_volume_in_error_is_told_and_deleted(ec2: Any, project: Any) -> None:
    _snapshot(ec2)
    before = _ids(ec2)
    with pytest.raises(CliError, match=r"became error: may this account use the snapshot's key"):
        _run(_drill(_Watched(ec2, describe_volumes=_state("error")), project), ec2, project)
    assert _ids(ec2) == before


def test_one_that_takes_for_ever_is_given_up_with_progress_said(ec2: Any, project: Any) -> None:
    _snapshot(ec2)
    before, said = _ids(ec2), []
    with pytest.raises(CliError, match="still being made after 15 min"):
        _run(_drill(_Watched(ec2, describe_volumes=_state("creating")), project, said), ec2, project)
    assert _ids(ec2) == before
    assert any("creating, 10 s" in line for line in said)


def test_what_isnt_as_it_should_is_a_problem(ec2: Any, project: Any) -> None:
    _snapshot(ec2)

    def plain(call: dict[str, Any]) -> Any:
        for raw in call["answer"]["Volumes"]:
            raw.update(Encrypted=False, Size=7, SnapshotId="", AvailabilityZone="us-east-1b")
        return call["answer"]

    outcome = _run(_drill(_Watched(ec2, describe_volumes=plain), project), ec2, project)
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


class _Refusing(_Watched):
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
    _snapshot(ec2)
    before = _ids(ec2)
    _run(_drill(_Refusing(ec2, delete_volume=_raising(error, error)), project), ec2, project)
    assert _ids(ec2) == before


def test_one_that_may_not_be_deleted_is_named_with_the_command(ec2: Any, project: Any) -> None:
    _snapshot(ec2)
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
    assert {mine, elsewhere} <= _ids(ec2)
    assert sorted(one.sweep(datetime.now(UTC) + timedelta(hours=2))) == sorted([mine, elsewhere])
    assert len(status_volumes(ec2, "lab")) == 2


@pytest.mark.parametrize(
    ("usd", "said"), [("0.0001", "less than a cent"), ("0.011", "2 cents"), ("1", "100 cents")]
)
def test_cents_are_rounded_up(usd: str, said: str) -> None:
    assert cents(drill.Decimal(usd)) == said

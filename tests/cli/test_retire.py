"""retire: a volume goes only once its last snapshot is whole."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from moto import mock_aws

from nightshift.cli import tagged
from nightshift.cli.errors import CliError
from nightshift.cli.verb_retire import RETIRED, read_candidates, wait_whole

REGION = "us-east-1"


@pytest.fixture(autouse=True)
def _credentials(project: Any) -> Any:
    project.env |= {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    with mock_aws():
        yield


def _ec2() -> Any:
    return boto3.client("ec2", REGION)


def _volume(name: str = "runs", index: str | None = None, site: str = "lab") -> str:
    tags = {"nightshift:site": site, "nightshift:volume": name}
    tags |= {"nightshift:index": index} if index else {}
    pairs = [{"Key": key, "Value": value} for key, value in tags.items()]
    made = _ec2().create_volume(
        AvailabilityZone="us-east-1a", Size=10, TagSpecifications=[{"ResourceType": "volume", "Tags": pairs}]
    )
    return str(made["VolumeId"])


def _alive() -> set[str]:
    return {str(one["VolumeId"]) for one in _ec2().describe_volumes()["Volumes"]}


def _snapshots() -> list[dict[str, Any]]:
    filters = [{"Name": "tag-key", "Values": [RETIRED]}]
    return _ec2().describe_snapshots(OwnerIds=["self"], Filters=filters)["Snapshots"]


def test_a_retired_volume_leaves_a_snapshot_that_names_it(project: Any, capsys: Any) -> None:
    kept, gone = _volume("imagenet"), _volume("runs")
    assert project.say("retire", "runs", "--yes") == 0
    assert _alive() == {kept}
    (snapshot,) = _snapshots()
    assert snapshot["VolumeId"] == gone
    assert {"Key": RETIRED, "Value": gone} in snapshot["Tags"]
    assert snapshot["SnapshotId"] in capsys.readouterr().out


def test_a_volume_that_the_file_no_longer_names_is_retired_by_name(project: Any, capsys: Any) -> None:
    _volume("scratch")
    assert project.say("retire", "scratch", "--yes") == 0
    assert _alive() == set()
    assert "scratch: { size_gib: 10, from: snap-" in capsys.readouterr().out


def test_a_killed_run_goes_on_with_the_snapshot_that_it_made(project: Any) -> None:
    """Between snapshot and deletion the laptop slept: the second run makes no second snapshot."""
    volume = _volume()
    _ec2().create_snapshot(
        VolumeId=volume,
        TagSpecifications=[{"ResourceType": "snapshot", "Tags": [{"Key": RETIRED, "Value": volume}]}],
    )
    assert project.say("retire", "runs", "--yes") == 0
    assert len(_snapshots()) == 1
    assert _alive() == set()


def test_of_several_the_one_that_is_meant_must_be_named(project: Any, capsys: Any) -> None:
    first, second = _volume("runs", "0"), _volume("runs", "1")
    assert project.say("retire", "runs", "--yes") == 2
    said = capsys.readouterr().err.replace("\n", " ")
    assert first in said
    assert second in said
    assert project.say("retire", "runs", "--index", "1", "--yes") == 0
    assert _alive() == {first}


@pytest.mark.parametrize("words", [("absent",), ("runs", "--index", "4"), ("runs", "--id", "vol-0abc")])
def test_what_is_not_there_is_wrong_use_and_changes_nothing(project: Any, words: tuple[str, ...]) -> None:
    volume, foreign = _volume(), _volume("absent", site="other")
    assert project.say("retire", *words, "--yes") == 2
    assert _alive() == {volume, foreign}


def test_a_volume_in_use_is_refused_with_the_way_out(project: Any, capsys: Any) -> None:
    volume, ec2 = _volume(), _ec2()
    node = ec2.run_instances(
        ImageId="ami-03cf127a", MinCount=1, MaxCount=1, Placement={"AvailabilityZone": "us-east-1a"}
    )["Instances"][0]["InstanceId"]
    ec2.attach_volume(VolumeId=volume, InstanceId=node, Device="/dev/sdf")
    assert project.say("retire", "runs", "--yes") == 1
    assert "nightshift sleep" in capsys.readouterr().err.replace("\n    ", " ")
    assert _snapshots() == []


def test_without_a_yes_or_in_a_dry_run_nothing_changes(project: Any) -> None:
    volume = _volume()
    project.answer = False
    assert project.say("retire", "runs") == 1
    assert project.say("retire", "runs", "--dry-run") == 0
    assert _alive() == {volume}
    assert _snapshots() == []


@pytest.mark.parametrize("word", ["sp*", "ho?e", "*", "sp\\\\*", "Spare", "spare ", ""])
def test_a_word_that_is_no_plain_name_is_wrong_use_and_asks_nothing(
    project: Any, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EC2's filters read * and ? as more than letters: 'sp*' once took the volume spare."""
    there = {_volume("spare"), _volume("home")}
    monkeypatch.setattr("nightshift.cli.context.Context.connect", lambda *_: pytest.fail("AWS was asked"))
    for verb in ("retire", "restore"):
        assert project.say(verb, word, *(["--yes"] if verb == "retire" else [])) == 2
    assert _alive() == there


def test_a_name_is_looked_for_to_the_letter(project: Any) -> None:
    _volume("spare")
    assert read_candidates(_ec2(), "lab", "sp*") == []
    assert read_candidates(_ec2(), "la?", "spare") == []
    (wanted,) = tagged.filters({"nightshift:volume": "a\\*b?"})
    assert wanted == {"Name": "tag:nightshift:volume", "Values": ["a\\\\\\*b\\?"]}


def test_what_a_filter_lets_through_is_compared_before_it_counts(project: Any) -> None:
    volume = _volume("spare")

    class _Loose:
        """Answers with all there is, whatever is asked."""

        def get_paginator(self, operation: str) -> Any:
            return self

        def paginate(self, **_: Any) -> Any:
            return [_ec2().describe_volumes()]

    assert read_candidates(_Loose(), "lab", "runs") == []
    assert [one.id for one in read_candidates(_Loose(), "lab", "spare")] == [volume]


def test_a_snapshot_of_another_volume_with_the_tag_is_no_last_snapshot(project: Any) -> None:
    gone, other = _volume("runs"), _volume("imagenet")
    _ec2().create_snapshot(
        VolumeId=other,
        TagSpecifications=[{"ResourceType": "snapshot", "Tags": [{"Key": RETIRED, "Value": gone}]}],
    )
    assert project.say("retire", "runs", "--yes") == 0
    assert {one["VolumeId"] for one in _snapshots()} == {gone, other}


@pytest.mark.parametrize("name", ["runs", "abcdefghij0123456789"])
def test_what_it_says_fits_the_page(project: Any, capsys: Any, name: str) -> None:
    _volume(name)
    assert project.say("retire", name, "--yes") == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


class _Failing:
    """An EC2 that gives the snapshot up after a while."""

    def __init__(self) -> None:
        self.states = iter(["pending", "pending", "error"])

    def describe_snapshots(self, **_: object) -> dict[str, object]:
        return {
            "Snapshots": [{"State": next(self.states), "Progress": "40%", "StateMessage": "KMS key gone"}]
        }


def test_a_failed_snapshot_keeps_the_volume_and_says_why(project: Any) -> None:
    with pytest.raises(CliError, match=r"KMS key gone.*not deleted"):
        wait_whole(_Failing(), "snap-1", project.context(), poll_s=0)

"""restore on the emulated AWS in this process: what is listed and told, and that nothing is changed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nightshift.cli.verb_restore import gather
from nightshift.plan import names
from tests.cli.conftest import snapshot, volume, volume_ids


@pytest.fixture(name="project", autouse=True)
def _now(project: Any) -> Any:
    """moto's snapshots are of the real now."""
    del project.env["NIGHTSHIFT_NOW"]
    return project


def test_snapshots_are_listed_and_the_steps_told(
    ec2: Any, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    by_hand, newest = snapshot(ec2, tagged=False), snapshot(ec2)
    snapshot(ec2, "imagenet")
    before = volume_ids(ec2)
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
    assert volume_ids(ec2) == before
    assert project.say("restore", "runs", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert {one["id"] for one in data["snapshots"]} == {by_hand, newest}
    assert (data["live"][0]["id"], data["drill"]) == (volume(ec2)["VolumeId"], None)


def test_a_volume_that_is_gone_is_found_by_its_snapshots(
    ec2: Any, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    made = snapshot(ec2)
    ec2.delete_volume(VolumeId=volume(ec2)["VolumeId"])
    assert project.say("restore", "runs", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["live"] == []
    assert (data["chosen"], "nightshift retire" in " ".join(data["commands"])) == (made, False)


def test_without_a_snapshot_it_ends_with_1(
    ec2: Any, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert project.say("restore", "runs") == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "no usable snapshot of runs nothing could be restored now: policy nightly takes its first" in said
    assert project.say("restore", "runs", "--json") == 1
    assert json.loads(capsys.readouterr().out)["chosen"] is None


def test_an_old_snapshot_ends_with_1_and_the_policys_promise(
    ec2: Any, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot(ec2)
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
        (("runs", "--index", "3"), 2),
    ],
)
def test_what_isnt_there_is_told(ec2: Any, project: Any, words: tuple[str, ...], code: int) -> None:
    snapshot(ec2)
    assert project.say("restore", *words) == code


def test_another_sites_snapshot_is_none_of_ours(ec2: Any, project: Any) -> None:
    tags = [{"Key": key, "Value": value} for key, value in names.volume_tags("other", "runs", "x").items()]
    ec2.create_snapshot(
        VolumeId=volume(ec2, "imagenet")["VolumeId"],
        TagSpecifications=[{"ResourceType": "snapshot", "Tags": tags}],
    )
    assert gather(ec2, project.stack, "runs").snapshots == []


def test_a_drill_makes_looks_and_deletes(ec2: Any, project: Any, capsys: pytest.CaptureFixture[str]) -> None:
    made, before = snapshot(ec2), volume_ids(ec2)
    assert project.say("restore", "runs", "--drill") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"drill: {made}, 0 min old, became vol-" in told
    assert "it is deleted again" in told
    assert "proved: AWS makes an encrypted volume of 200 GiB of it here" in told
    assert "not proved: what is on it" in told
    assert "cost: less than a cent" in told
    assert volume_ids(ec2) == before
    assert project.say("restore", "runs", "--drill", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert 0 < data["drill"]["usd"] < 0.01
    assert data["drill"]["removed"] == []


def _pool(ec2: Any, project: Any) -> list[str]:
    """imagenet as a pool of two, with a snapshot of each: their ids by index."""
    text = project.file.read_text()
    text = text.replace(
        "imagenet: {size_gib: 300, throughput: 500, iops: 4000}", "imagenet: {size_gib: 300, per: node}"
    )
    text = text.replace("volumes: [imagenet, runs]", "nodes: 2\n      volumes: [imagenet]")
    project.file.write_text(text)
    ec2.delete_volume(VolumeId=volume(ec2, "imagenet")["VolumeId"])
    made = []
    for index in (0, 1):
        tags = names.volume_tags("lab", "imagenet", "vision", index=index)
        pairs = [{"Key": key, "Value": value} for key, value in tags.items()]
        one = ec2.create_volume(
            AvailabilityZone="us-east-1a",
            Size=300,
            TagSpecifications=[{"ResourceType": "volume", "Tags": pairs}],
        )
        kind = [{"ResourceType": "snapshot", "Tags": pairs}]
        made.append(ec2.create_snapshot(VolumeId=one["VolumeId"], TagSpecifications=kind)["SnapshotId"])
    return made


def test_of_a_pool_one_index_alone_is_told_of(
    ec2: Any, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    of_zero, of_one = _pool(ec2, project)
    assert project.say("restore", "imagenet", "--snapshot", of_one, "--index", "0") == 2
    capsys.readouterr()
    assert project.say("restore", "imagenet", "--index", "1", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    ids = {one["index"]: one["id"] for one in told["live"]}
    assert (told["chosen"], told["index"]) == (of_one, 1)
    assert "refresh" in told["commands"][told["edit_at"]]
    retired = [one for one in told["commands"] if "retire" in one]
    assert retired == [f"nightshift retire imagenet --id {ids[1]} -s lab"]
    ec2.delete_volume(VolumeId=ids[0])
    assert project.say("restore", "imagenet", "--index", "0", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["chosen"], [one for one in told["commands"] if "retire" in one]) == (of_zero, [])


def test_another_sites_snapshot_is_named_so(
    ec2: Any, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    tags = [{"Key": key, "Value": value} for key, value in names.volume_tags("other", "home", "x").items()]
    made = ec2.create_snapshot(
        VolumeId=volume(ec2, "imagenet")["VolumeId"],
        TagSpecifications=[{"ResourceType": "snapshot", "Tags": tags}],
    )["SnapshotId"]
    assert project.say("restore", "runs", "--snapshot", made) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"warning {made} is of volume home of site other, not of runs of site lab" in told
    assert "back as it was" not in told

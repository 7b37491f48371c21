"""What is left after a destroy: what the design keeps is told apart from what should have gone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from nightshift.cli.verb_retire import RETIRED
from nightshift.rehearsal.deploy import DeployReport
from nightshift.rehearsal.left import left_after
from tests.rehearsal.support.stacks import shipped


class _Canned:
    """Whatever is asked for that has no answer here is an empty list."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self._answers = {"get_caller_identity": {"Account": "123456789012"}, **answers}

    def can_paginate(self, operation: str) -> bool:
        """One page."""
        return False

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda **_: self._answers.get(name, defaultdict(list))


def _tagged(key: str, name: str, **tags: str) -> dict[str, Any]:
    own = {"nightshift:site": "lab", **{f"nightshift:{tag}": value for tag, value in tags.items()}}
    return {key: name, "Tags": [{"Key": tag, "Value": value} for tag, value in own.items()]}


def _report(snapshot: Mapping[str, Any], volume: Mapping[str, Any]) -> DeployReport:
    answers = {"describe_snapshots": {"Snapshots": [snapshot]}, "describe_volumes": {"Volumes": [volume]}}
    return DeployReport("lab", left=left_after(shipped("lab"), lambda _: _Canned(answers)))


def test_the_last_snapshot_of_a_retired_volume_is_kept_on_purpose() -> None:
    last = _tagged("SnapshotId", "snap-1", volume="runs", **{RETIRED.partition(":")[2]: "vol-1"})
    report = _report(last, _tagged("VolumeId", "vol-2", volume="imagenet"))
    assert report.problems == []
    assert report.data()["kept"] == ["snapshot snap-1 (runs)", "volume vol-2 (imagenet)"]


def test_another_snapshot_and_a_volume_the_file_does_not_name_are_problems() -> None:
    report = _report(
        _tagged("SnapshotId", "snap-1", volume="runs"), _tagged("VolumeId", "vol-2", volume="scratch")
    )
    assert report.problems == [
        "left after destroy: snapshot snap-1",
        "left after destroy: volume vol-2 (scratch)",
    ]

"""Killed at any moment, out of room at any byte, tampered with anywhere: never half a runtime taken for one.

The campaign `tests.campaigns.runtime` plays many more rounds of the same.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.bootstrap.runtime.support.hardship import (
    MIB,
    full_disks,
    kills,
    reason_to_skip,
    sealed,
    tampering,
)
from tests.bootstrap.runtime.support.lane import Lane

pytestmark = pytest.mark.node


def test_killed_while_unpacking_nothing_half_done_stands(built_lane: Lane, tmp_path: Path) -> None:
    found = kills(built_lane, 4, 1.0, random.Random(4), tmp_path)
    assert found.problems == []
    assert found.rounds >= 4


def test_a_disk_that_is_too_small_is_said_and_cleared(built_lane: Lane, tmp_path: Path) -> None:
    if reason := reason_to_skip():
        pytest.skip(reason)
    size = sealed(built_lane.folders(built_lane.base / "first")).size
    found = full_disks(built_lane, [MIB // 4, size // 3, size - MIB], tmp_path)
    assert found.problems == []
    assert found.counts["problem"] == 3


def test_whatever_is_changed_is_noticed_and_mended(built_lane: Lane, tmp_path: Path) -> None:
    found = tampering(built_lane, tmp_path / "node", 9, random.Random(1))
    assert found.problems == []
    assert found.counts["sly byte: in full"] == 1
    assert found.counts["sly library: quickly"] == 1

"""restore, decided: which snapshot, whether it is as new as promised, and the steps back to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from nightshift.cli import restoring
from nightshift.cli.drill import Outcome
from nightshift.cli.errors import CliError, UsageError
from nightshift.cli.restoring import Found, Snapshot
from nightshift.cli.text import command_lines
from nightshift.cli.verb_restore import answer, drilled
from nightshift.cli.verb_retire import Candidate

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
NEW = Snapshot(
    "snap-0abc000000000002", NOW - 2 * HOUR, 200, True, "completed", "vol-1", "runs", None, "policy"
)
OLD = replace(NEW, id="snap-0abc000000000001", began=NOW - 26 * HOUR)
LIVE = Candidate("vol-0abc0000000000001", 0, 200, "us-east-1a", None)


def _found(*snapshots: Snapshot, live: tuple[Candidate, ...] = (LIVE,)) -> Found:
    return Found("runs", live, snapshots)


def test_the_newest_usable_one_is_taken() -> None:
    waiting = replace(NEW, id="snap-3", state="pending", began=NOW)
    archived = replace(NEW, id="snap-4", tier="archive", began=NOW)
    assert restoring.choose(_found(waiting, archived, NEW, OLD), None, None) == NEW
    assert restoring.choose(_found(NEW, OLD), OLD, None) == OLD


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"state": "pending"}, "is pending"),
        ({"state": "error"}, "is error"),
        ({"tier": "archive"}, "in the archive tier"),
    ],
)
def test_one_that_cant_be_used_is_refused_with_the_reason(change: dict[str, Any], said: str) -> None:
    with pytest.raises(CliError, match=said):
        restoring.choose(_found(NEW), replace(NEW, **change), None)


def test_without_a_usable_one_it_says_what_is_on_its_way() -> None:
    with pytest.raises(CliError, match="no usable snapshot of runs; snap-0abc000000000002 isn't whole yet"):
        restoring.choose(_found(replace(NEW, state="pending")), None, None)


def test_of_a_pool_the_volume_must_be_named() -> None:
    pool = _found(replace(NEW, index=0), replace(OLD, index=1))
    with pytest.raises(UsageError, match="say --index or --snapshot"):
        restoring.choose(pool, None, None)
    assert restoring.choose(pool, None, 1).id == OLD.id


@pytest.mark.parametrize(("hours", "late"), [(2, False), (26.9, False), (27.1, True), (90, True)])
def test_a_snapshot_older_than_its_policy_promises_is_told(project: Any, hours: float, late: bool) -> None:
    found = _found(replace(NEW, began=NOW - hours * HOUR))
    says = restoring.stale(project.stack, found, None, NOW)
    assert (says is not None) == late
    assert says is None or "policy nightly makes one every 24 h" in says


def test_a_volume_without_a_policy_or_that_is_gone_promises_nothing(project: Any) -> None:
    ancient = replace(NEW, began=NOW - 9000 * HOUR)
    assert restoring.stale(project.stack, _found(ancient, live=()), None, NOW) is None
    assert restoring.stale(project.stack, Found("imagenet", (LIVE,), [ancient]), None, NOW) is None


def test_a_live_volume_is_held_retired_and_made_anew(project: Any) -> None:
    held = replace(LIVE, node="i-1")
    plan = restoring.steps(project.stack, _found(NEW, live=(held,)), NEW, NOW)
    assert [command for _, command in plan] == [
        'nightshift hold desk vit --until "2026-12-02 17:00" -s lab',
        "nightshift status -s lab",
        "nightshift retire runs -s lab",
        "",
        "pulumi refresh -s lab --yes",
        "pulumi up -s lab",
        "nightshift resume desk vit -s lab",
    ]


def test_the_snapshots_and_the_steps_are_told(project: Any, golden: Callable[[str, Any], None]) -> None:
    retired = replace(OLD, id="snap-0abc000000000000", began=NOW - 200 * HOUR, by="retire")
    project.take_shipped_lab()
    found = answer(project.stack, _found(NEW, OLD, retired), NEW, None, NOW)
    golden("restore", found.lines)
    assert found.code == 0


def test_a_drill_tells_what_it_proved(project: Any, golden: Callable[[str, Any], None]) -> None:
    project.take_shipped_lab()
    outcome = Outcome("vol-0abc000000000009", 6.2, Decimal("0.0004"))
    found = drilled(project.stack, _found(NEW), NEW, outcome, None, NOW)
    golden("drill", found.lines)
    assert found.code == 0


def test_of_two_live_ones_each_is_named(project: Any) -> None:
    two = _found(NEW, live=(LIVE, replace(LIVE, id="vol-2")))
    commands = [command for _, command in restoring.steps(project.stack, two, NEW, NOW)]
    assert "nightshift retire runs --id vol-0abc0000000000001 -s lab" in commands
    assert "nightshift retire runs --id vol-2 -s lab" in commands


def test_the_edit_gives_the_snapshot_and_a_size_that_fits(project: Any) -> None:
    assert restoring.edit(project.stack, "runs", NEW) == ["runs:", f"  from: {NEW.id}"]
    larger = replace(NEW, size_gib=500)
    assert restoring.edit(project.stack, "runs", larger) == ["runs:", "  size_gib: 500", f"  from: {NEW.id}"]
    assert restoring.edit(project.stack, "gone", NEW) == ["gone:", "  size_gib: 200", f"  from: {NEW.id}"]


def test_an_adopted_volume_is_adopted_no_more(project: Any) -> None:
    text = project.file.read_text()
    project.file.write_text(text.replace("{size_gib: 200,", "{size_gib: 200, adopt: vol-0abc0000000000001,"))
    assert "  # without its line adopt: vol-0abc0000000000001" in restoring.edit(project.stack, "runs", NEW)


def test_a_snapshot_is_read_with_what_made_it() -> None:
    raw = {
        "SnapshotId": "snap-1",
        "StartTime": NOW,
        "VolumeSize": 5,
        "State": "completed",
        "VolumeId": "vol-1",
        "Encrypted": True,
    }
    tags = {"nightshift:volume": "runs", "nightshift:index": "2", "aws:dlm:lifecycle-policy-id": "policy-1"}
    pairs = [{"Key": key, "Value": value} for key, value in tags.items()]
    found = restoring.read_snapshot({**raw, "Tags": pairs})
    assert (found.name, found.index, found.by, found.usable) == ("runs", 2, "policy", True)
    bare = restoring.read_snapshot(raw)
    assert (bare.name, bare.index, bare.by) == ("", None, "hand")
    retired = restoring.read_snapshot({**raw, "Tags": [{"Key": "nightshift:retired", "Value": "vol-1"}]})
    assert retired.by == "retire"


def test_a_long_command_is_broken_where_a_shell_joins_it() -> None:
    command = (
        f'nightshift hold {" ".join(f"group-{at}" for at in range(12))} --until "2026-12-02 17:00" -s lab'
    )
    lines = command_lines(command, 5)
    assert max(map(len, lines)) <= 80
    assert len(lines) > 1
    assert " ".join(line.strip().removesuffix(" \\") for line in lines) == command

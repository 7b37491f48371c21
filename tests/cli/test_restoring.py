"""restore, decided: which snapshot, whether it is as new as promised, and the steps back to it."""

from __future__ import annotations

import re
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
from nightshift.cli.when import parse_until

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
NEW = Snapshot(
    "snap-0abc000000000002",
    NOW - 2 * HOUR,
    200,
    True,
    "completed",
    "vol-1",
    "runs",
    None,
    "policy",
    site="lab",
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
    plan = restoring.steps(project.stack, _found(NEW, live=(held,)), NEW, None, NOW)
    assert [command for _, command in plan] == [
        "nightshift hold desk vit --until 2026-12-02T09:00Z -s lab",
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
    commands = [command for _, command in restoring.steps(project.stack, two, NEW, None, NOW)]
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


ZERO, FIRST = (Candidate(f"vol-{at}", at, 200, "us-east-1a", None, pooled=True) for at in (0, 1))
OF_ZERO = replace(NEW, id="snap-0abc00000000000a", volume="vol-0", index=0)
OF_ONE = replace(NEW, id="snap-0abc00000000000b", volume="vol-1", index=1)


@pytest.fixture(name="pooled")
def _pooled(project: Any) -> Any:
    """The lab with runs as a pool of two."""
    text = project.file.read_text()
    text = text.replace(
        "{size_gib: 200, snapshots: nightly}", "{size_gib: 200, snapshots: nightly, per: node}"
    )
    text = text.replace("volumes: [imagenet, runs]", "nodes: 2\n      volumes: [runs]")
    text = text.replace("      volumes: [runs]\n    vit", "    vit", 1)
    project.file.write_text(text)
    return project.stack


def _pool(*live: Candidate) -> Found:
    return Found("runs", live, [OF_ZERO, OF_ONE], pool=True)


def _told(stack: Any, found: Found, chosen: Snapshot, asked: int | None) -> list[str]:
    index = restoring.place(stack, found, chosen, asked)
    return [
        command for _, command in restoring.steps(stack, found, chosen, index, NOW) if "hold" not in command
    ]


def test_only_the_asked_index_of_a_pool_is_retired(pooled: Any) -> None:
    told = _told(pooled, _pool(ZERO, FIRST), OF_ONE, 1)
    assert told == [
        "nightshift retire runs --id vol-1 -s lab",
        "",
        "pulumi refresh -s lab --yes",
        "pulumi up -s lab",
        "nightshift resume vit -s lab",
    ]
    assert told == _told(pooled, _pool(ZERO, FIRST), OF_ONE, None)


def test_an_index_that_is_gone_takes_no_other_one_with_it(pooled: Any) -> None:
    assert _told(pooled, _pool(FIRST), OF_ZERO, 0)[0] == ""


@pytest.mark.parametrize(
    ("live", "retired"), [((FIRST,), "--id vol-1"), ((), "--index 1")], ids=["one alive", "none alive"]
)
def test_a_pool_with_others_gone_is_made_whole_before_from_is_written(
    pooled: Any, live: tuple[Candidate, ...], retired: str
) -> None:
    """`from:` makes every volume of the pool that isn't alive: the others must be before it's written."""
    assert _told(pooled, _pool(*live), OF_ONE, 1)[:4] == [
        "pulumi refresh -s lab --yes",
        "pulumi up -s lab",
        f"nightshift retire runs {retired} -s lab",
        "",
    ]


def test_the_line_that_made_one_of_a_pool_goes_again(pooled: Any) -> None:
    told = answer(pooled, _pool(ZERO, FIRST), OF_ONE, 1, NOW)
    assert max(map(len, told.lines)) <= 80
    assert "runs index 1 back as it was 2 h ago" in " ".join(told.lines)
    assert "then take the line from: out again" in str(told.data["afterwards"])
    assert restoring.afterwards(pooled, Found("imagenet", (), [])) is None


def test_a_snapshot_of_another_index_is_refused(pooled: Any) -> None:
    with pytest.raises(UsageError, match="is of index 1 of runs, --index says 0"):
        restoring.place(pooled, _pool(ZERO, FIRST), OF_ONE, 0)
    bare = replace(OF_ONE, index=None)
    with pytest.raises(UsageError, match="is of no index of it: say --index"):
        restoring.place(pooled, _pool(ZERO, FIRST), bare, None)
    assert restoring.place(pooled, _pool(ZERO, FIRST), bare, 1) == 1


@pytest.mark.parametrize(("index", "said"), [(2, "has 0 to 1"), (-1, "has 0 to 1")])
def test_an_index_that_the_pool_hasnt_is_wrong_use(pooled: Any, index: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        restoring.known_index(pooled, _pool(ZERO, FIRST), index)
    restoring.known_index(pooled, _pool(ZERO, FIRST), 1)


def test_a_hold_ends_at_the_same_instant_in_any_zone(project: Any) -> None:
    """`hold` reads a time without a zone in its group's zone, which needn't be the site's."""
    text = project.file.read_text()
    project.file.write_text(text.replace("tier: small", "tier: small\n      timezone: Asia/Tokyo"))
    command = restoring.steps(project.stack, _found(NEW), NEW, None, NOW)[0][1]
    (until,) = re.findall(r"--until (\S+)", command)
    group = project.stack.groups["desk"]
    assert group.timezone == "Asia/Tokyo"
    assert parse_until(until, NOW, group.timezone) == NOW + timedelta(days=1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"site": "other", "name": "home"}, "is of volume home of site other, not of runs of site lab"),
        ({"name": "home"}, "is of volume home of site lab, not of runs of site lab"),
        ({"site": "other", "index": 3}, "is of volume runs index 3 of site other"),
        ({"site": "", "name": ""}, "bears no site's tags: it is of vol-1"),
    ],
)
def test_a_snapshot_of_something_else_is_named_so(project: Any, change: dict[str, Any], said: str) -> None:
    other = replace(NEW, **change)
    told = answer(project.stack, _found(NEW), other, None, NOW)
    words = " ".join(" ".join(told.lines).split())
    assert said in words
    assert "back as it was" not in words
    assert said in str(told.data["foreign"])
    outcome = Outcome("vol-0abc000000000009", 6.2, Decimal("0.0004"))
    tried = drilled(project.stack, _found(NEW), other, outcome, None, NOW)
    assert said in " ".join(" ".join(tried.lines).split())


def test_a_snapshot_by_hand_of_the_live_volume_is_the_volumes_own(project: Any) -> None:
    by_hand = replace(NEW, volume=LIVE.id, site="", name="")
    assert restoring.foreign(project.stack, _found(by_hand), by_hand) is None
    assert restoring.foreign(project.stack, _found(NEW), NEW) is None

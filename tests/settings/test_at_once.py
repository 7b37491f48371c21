"""A value that is unsound hides no problem of the others: what rules say without it, they say beside it."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from pathlib import Path as Folder
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.settings import SettingsError, from_config

Json = Any
Path = tuple[str | int, ...]
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
FULL: dict[str, Json] = json.loads((Folder(__file__).parent / "every_field.json").read_text(encoding="utf-8"))
GONE = object()


class Change(NamedTuple):
    """A value put somewhere (or taken out), and where that is told."""

    at: Path
    value: Json
    told_at: str


DESK: Path = ("groups", "desk")
AGAINST_RULES = (
    Change(("site", "zone"), "eu-west-1a", "site.zone: "),
    Change(("site", "timezone"), "Mars/Olympus", "site.timezone: "),
    Change(("site", "network", "cidr"), "8.8.0.0/16", "site.network.cidr: "),
    Change(("site", "ssh", "from", 0), "0.0.0.0/0", "site.ssh.from[0]: "),
    Change(("volumes", "runs", "throughput"), 1999, "volumes.runs.throughput: "),
    Change(("volumes", "runs", "snapshots"), "never", "volumes.runs.snapshots: "),
    Change((*DESK, "tier"), "huge", "groups.desk.tier: "),
    Change((*DESK, "timezone"), "CET", "groups.desk.timezone: "),
    Change((*DESK, "shifts", 0, "days"), ["mon", "mon"], "groups.desk.shifts[0].days[1]: "),
    Change((*DESK, "volumes"), ["runs", "lost"], "groups.desk.volumes[1]: "),
    Change((*DESK, "runtime"), "torch-0", "groups.desk.runtime: "),
    Change((*DESK, "boot"), "3h", "groups.desk.boot: "),
    Change((*DESK, "idle", "for"), "1m", "groups.desk.idle.for: "),
    Change((*DESK, "job", "ref"), GONE, "groups.desk.job.ref: "),
    Change((*DESK, "users"), ["root"], "groups.desk.users[0]: "),
    Change(("groups", "mixed", "capacity", "on_demand_base"), 9, "groups.mixed.capacity.on_demand_base: "),
    Change(("groups", "mixed", "types"), ["g6.2xlarge", "g6.12xlarge"], "groups.mixed.types: "),
    Change(("groups", "block", "shifts", 0, "to"), "19:20", "groups.block.capacity: "),
)
"""Each breaks a rule across fields, or one that no schema knows."""
UNSOUND = (
    Change(("site", "owner"), "?", "site.owner: "),
    Change(("site", "vpn"), True, "site.vpn: "),
    Change(("site", "image"), GONE, "site.image: "),
    Change(("site", "alerts"), ["nobody"], "site.alerts[0]: "),
    Change(("site", "budget", "monthly_usd"), "600", "site.budget.monthly_usd: "),
    Change(("volumes", "runs", "filesystem"), "zfs", "volumes.runs.filesystem: "),
    Change(("volumes", "runs", "qqqq"), 1, "volumes.runs.qqqq: "),
    Change(("volumes", "old", "size_gib"), GONE, "volumes.old.size_gib: "),
    Change(("snapshots", "nightly", "keep"), 0, "snapshots.nightly.keep: "),
    Change((*DESK, "capacity"), "Spot", "groups.desk.capacity: "),
    Change((*DESK, "root_gib"), 1, "groups.desk.root_gib: "),
    Change((*DESK, "qqqq"), 1, "groups.desk.qqqq: "),
    Change((*DESK, "hop_limit"), "two", "groups.desk.hop_limit: "),
    Change((*DESK, "idle", "then"), "stop", "groups.desk.idle.then: "),
    Change((*DESK, "job", "when_dnoe"), "stay", "groups.desk.job.when_dnoe: "),
    Change((*DESK, "job", "secrets"), ["a b"], "groups.desk.job.secrets[0]: "),
    Change((*DESK, "job", "run"), GONE, "groups.desk.job.run: "),
    Change((*DESK, "shifts", 0, "to"), 7, "groups.desk.shifts[0].to: "),
    Change(("groups", "mixed", "shifts"), GONE, "groups.mixed.shifts: "),
    Change(("groups", "block", "users"), ["Ada"], "groups.block.users[0]: "),
)
"""Each breaks the schema where none of those rules reads."""


def changed(changes: list[Change]) -> dict[str, Json]:
    """A copy of the sound stack with each change in it."""
    result = copy.deepcopy(FULL)
    for change in changes:
        spot: Json = result
        for step in change.at[:-1]:
            spot = spot[step]
        if change.value is GONE:
            del spot[change.at[-1]]
        else:
            spot[change.at[-1]] = change.value
    return result


def told(changes: list[Change]) -> list[str]:
    """Every line that the stack with these changes gets back."""
    with pytest.raises(SettingsError) as refused:
        from_config({"aws:region": "us-east-1", **changed(changes)}, "lab", now=NOW)
    return list(refused.value.problems)


@pytest.mark.parametrize("change", AGAINST_RULES, ids=lambda change: change.told_at)
def test_a_broken_rule_is_told_beside_everything_that_is_unsound_elsewhere(change: Change) -> None:
    alone = told([change])
    assert [line for line in alone if line.startswith(change.told_at)]
    others = [one for one in UNSOUND if one.at[:4] != change.at[:4]]
    assert sorted(told([change, *others])) == sorted([*alone, *told(others)])


def some(changes: tuple[Change, ...]) -> st.SearchStrategy[list[Change]]:
    return st.lists(st.sampled_from(changes), min_size=1, unique_by=lambda change: change.told_at)


@given(some(AGAINST_RULES), some(UNSOUND))
@settings(max_examples=60, deadline=None)
def test_mending_what_is_unsound_reveals_nothing_new(broken: list[Change], unsound: list[Change]) -> None:
    taken = {change.at[:4] for change in unsound}
    rules = [change for change in broken if change.at[:4] not in taken]
    both = told([*unsound, *rules])
    after = told(rules) if rules else []
    assert set(after) <= set(both)
    assert len(both) == len(after) + len(unsound)


def test_an_encrypted_topic_hides_no_problem_of_the_others() -> None:
    broken = changed([AGAINST_RULES[6]])
    config = {"aws:region": "us-east-1", **broken, "nightshift:snapshots": ""}
    del config["snapshots"]
    with pytest.raises(SettingsError) as refused:
        from_config(config, "lab", ["nightshift:snapshots"], NOW)
    heads = [line.partition(":")[0] for line in refused.value.problems]
    assert heads == ["snapshots", "groups.desk.tier"]

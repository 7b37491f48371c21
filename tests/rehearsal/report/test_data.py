"""`rehearse --json`: the promised keys, JSON-ready, all of them documented."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from nightshift.rehearsal.report.data import data
from tests.rehearsal.report.support.stories import ALL, broken_rule, good_week, midweek, three_faults

PROMISED = {
    "seed",
    "weeks",
    "real_nodes",
    "steps_trained",
    "steps_lost",
    "two_writer_seconds",
    "billed_minutes",
    "forecast_minutes",
    "bill_usd",
    "always_on_usd",
    "faults",
    "invariants_broken",
}
PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ALL)
def test_it_has_every_promised_key_and_is_json(name: str) -> None:
    told = data(ALL[name]())
    assert set(told) >= PROMISED
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_every_key_is_documented_down_to_the_items_of_lists() -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith("| `rehearse` of weeks |"))
    told = data(broken_rule())
    cell = row.split("|")[2]
    documented = dict(re.findall(r"`(\w+)(?:\[\{([^}]*)\}\])?`", cell))
    assert set(documented) - {"deploy", "report", "unwritten"} == set(told)
    for key, inside in documented.items():
        items = told.get(key)
        if isinstance(items, list) and items:
            assert set(inside.split(", ")) == set(items[0]), key


def test_a_quiet_week_in_numbers() -> None:
    told = data(good_week())
    assert (told["weeks"], told["ok"], told["faults"], told["invariants_broken"]) == (1, True, [], [])
    assert told["start"] == "2026-11-29T16:00:00Z"
    assert told["always_on_minutes"] == 2 * 7 * 24 * 60


def test_faults_and_breaks_are_told_with_their_ends() -> None:
    told = data(three_faults())
    faults = told["faults"]
    assert isinstance(faults, list)
    assert [fault["fault"] for fault in faults] == ["ice@mon", "spot@wed+3h", "boot-fails@fri"]
    assert faults[1]["struck"] == "2026-12-02T14:58:00Z"
    broken = data(broken_rule())["invariants_broken"]
    assert isinstance(broken, list)
    assert broken[0]["rule"] == "one writer"
    assert broken[0]["replay"].startswith("nightshift rehearse")


def test_a_fault_that_never_struck_has_no_instant() -> None:
    faults = data(midweek())["faults"]
    assert isinstance(faults, list)
    assert [fault["struck"] for fault in faults if fault["fault"] == "spot@sun+1h"] == [None]

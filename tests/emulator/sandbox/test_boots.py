"""User data from an empty root to a node in service, and some of what can befall it on the way.

Everything is in the campaign: `python -m tests.campaigns.boots`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from nightshift.emulator.sandbox.network import reason_to_skip
from nightshift.emulator.sandbox.place import group_root
from tests.campaigns.boots import page, play, summary
from tests.emulator.sandbox.support.scenarios import STEPS, all_scenarios

SAMPLE = (
    "healthy, rebooted, drained",
    "credentials: reset twice",
    "artifact: short twice",
    "record: lost twice",
    "hook: error twice",
    "artifact of another sha",
    "no Python at all",
    "artifact: kill -9",
    "attachment: crash and reboot",
    "machine: a card is gone from the bus",
)


def test_every_step_fails_in_every_way() -> None:
    names = {each.name for each in all_scenarios()}
    assert len(names) == len(all_scenarios())
    for step in STEPS:
        mine = {name.partition(": ")[2] for name in names if name.startswith(f"{step.name}: ")}
        assert {"reset twice", "lost twice", "hang once", "error for good", "kill -9"} <= mine


@pytest.mark.node
def test_a_boot_ends_ready_or_given_up_with_the_reason_or_off(tmp_path: Path) -> None:
    if reason := reason_to_skip():
        pytest.skip(reason)
    if group_root() is None:
        pytest.skip("needs control groups of version 2")
    chosen = [each for each in all_scenarios() if each.name in SAMPLE]
    assert len(chosen) == len(SAMPLE)
    rows = play(chosen, 3, tmp_path)
    assert [f"{row.name}: {row.problem}" for row in rows if not row.right] == []
    told = summary(rows, len(chosen), 1)
    assert (told["right"], told["silent"]) == (len(SAMPLE), 0)
    assert page(told).count("| healthy |") == 1

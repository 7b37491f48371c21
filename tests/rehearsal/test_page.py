"""docs/rehearsal.md names every kind of fault and every rule as the code has them."""

from __future__ import annotations

import json

from nightshift.rehearsal.faults.table import KINDS
from nightshift.rehearsal.invariants.judge import RULES
from tests.rehearsal.support.stacks import ROOT

PAGE = (ROOT / "docs" / "rehearsal.md").read_text(encoding="utf-8")


def test_every_fault_and_every_rule_stands_on_the_page() -> None:
    for name, kind in KINDS.items():
        assert f"| `{name}` | {kind.what} | {kind.ends} |" in PAGE
    for name, says in RULES.items():
        assert f"| `{name}` | {says} |" in PAGE


def test_the_figures_on_the_page_are_those_of_the_last_campaign() -> None:
    result = json.loads((ROOT / "docs" / "rehearsal.json").read_text(encoding="utf-8"))
    assert result["broken"] == []
    assert f"| {result['runs']}, {result['days']:,} |" in PAGE
    assert f"| {result['steps_trained']:,}, {result['steps_lost']:,} " in PAGE

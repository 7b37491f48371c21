"""docs/fields.md is current and leaves no field, tier or runtime out."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nightshift.catalog.runtimes import RUNTIMES
from nightshift.catalog.tiers import TIERS
from nightshift.settings import page
from nightshift.settings.models import Stack

LINES = page.text().splitlines()


def test_the_page_is_current() -> None:
    assert page.PATH.read_text(encoding="utf-8") == page.text()


def test_check_tells_a_current_page_from_a_stale_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(page, "PATH", tmp_path / "docs" / "fields.md")
    assert page.main(["--check"]) == 1
    assert "stale" in capsys.readouterr().out
    assert page.main([]) == 0
    assert page.main(["--check"]) == 0


def test_every_model_of_the_schema_has_a_section() -> None:
    assert set(Stack.model_json_schema()["$defs"]) == {model.__name__ for model, _ in page.SECTIONS}


def rows(last: str) -> Iterator[list[str]]:
    """The cells of every row of the tables whose last column is `last`."""
    within = False
    for line in LINES:
        cells = re.split(r"(?<!\\) \| ", line[2:-2])
        if cells[-1] == last:
            within = True
        elif not line.startswith("|"):
            within = False
        elif within and line.startswith("| "):
            yield cells


def test_every_cell_of_a_field_says_something() -> None:
    fields = list(rows("a change"))
    assert len(fields) == sum(len(model.model_fields) for model, _ in page.SECTIONS) + 5
    assert all(cell.strip() for row in fields for cell in row)
    assert not [row for row in fields if row[1] in ("nothing", "text")]


def test_every_type_of_a_tier_has_a_row_with_its_cards() -> None:
    named = [row[1] for row in rows("spot") if " x " in row[2]]
    assert named == [kind for tier in TIERS.values() for kind in tier.types]


def test_every_runtime_has_a_row() -> None:
    assert [row[0] for row in rows("for")] == list(RUNTIMES)


def test_checking_a_stack_file_does_not_load_it() -> None:
    loads = "import sys, nightshift.settings, nightshift.cli.verb_check"
    code = f"{loads}; print('nightshift.settings.page' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

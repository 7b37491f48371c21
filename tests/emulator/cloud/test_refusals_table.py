"""The table of refusals and its tests belong together one to one."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from nightshift.emulator.cloud.refusals import table
from nightshift.emulator.cloud.services import modules


def rows_proven() -> list[str]:
    """Names of the test functions beside this file that take the fixture `refused`."""
    found = []
    for path in sorted(Path(__file__).parent.glob("test_refusals_*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and "refused" in {arg.arg for arg in node.args.args}:
                found.append(node.name.removeprefix("test_").replace("_", "-"))
    return found


def test_every_row_has_exactly_one_test_and_every_test_a_row() -> None:
    assert Counter(rows_proven()) == Counter(row.name for row in table())


def test_every_row_names_its_source_and_date() -> None:
    for row in table():
        assert len(row.source) > 10, row.name
        assert row.date >= "2026-01", row.name


def test_every_patch_of_moto_gives_its_reason() -> None:
    for module in modules():
        for patch in module.PATCHES:
            assert len(patch.reason) > 20, patch
            assert hasattr(patch.owner, patch.name), patch


def test_rows_name_operations_that_exist() -> None:
    from moto.core.utils import get_service_model

    for row in table():
        known = get_service_model(row.service).operation_names
        assert set(row.operations) <= set(known), row.name

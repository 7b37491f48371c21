"""Real loop devices for the tests marked `node`, and a plain word where they can't be had."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.bootstrap.storage.support.bench import Bench, bench
from tests.bootstrap.storage.support.machine import reason_to_skip

HERE = Path(__file__).parent


@pytest.fixture
def node() -> Generator[Bench]:
    """One node with one blank volume `runs`."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    with bench() as made:
        yield made


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker for all: loop devices are the machine's, and a release ends whoever still holds one."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("node"):
            item.add_marker(pytest.mark.xdist_group("storage"))

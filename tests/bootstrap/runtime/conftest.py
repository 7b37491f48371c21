"""One lane for the tests marked `node` of this room."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.bootstrap.runtime.support.lane import Lane, lane

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def built_lane(tmp_path_factory: pytest.TempPathFactory) -> Generator[Lane]:
    """Its bucket holds a pack: one node has built it already."""
    with lane(tmp_path_factory.mktemp("lane")) as made:
        assert made.make(made.base / "first")["how"] == "built"
        yield made


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker for all: they share a built runtime."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("node"):
            item.add_marker(pytest.mark.xdist_group("runtime"))

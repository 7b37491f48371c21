"""Real loop devices for the tests marked `node`, and a plain word where they can't be had."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.bootstrap.storage.support.bench import Bench, bench
from tests.bootstrap.storage.support.machine import reason_to_skip


@pytest.fixture
def node() -> Generator[Bench]:
    """One node with one blank volume `runs`."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    with bench() as made:
        yield made

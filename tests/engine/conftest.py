"""A stack of its own for each story: the real engine, the emulated AWS, boto3 and the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from nightshift.emulator.cloud.process import Cloud, start_cloud
from nightshift.emulator.engine.toolchain import Toolchain, ensure_toolchain
from tests.engine.support.site import Deployed, Project

Deploy = Callable[..., Deployed]


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    return ensure_toolchain(lambda line: print(line, file=sys.stderr))


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    with start_cloud() as cloud:
        yield cloud


@pytest.fixture(scope="module")
def deploy(toolchain: Toolchain, cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deploy]:
    """Opens a stack: a shipped one, or a shipped one edited, under its own name or another."""
    with ExitStack() as opened:

        def open_stack(shipped: str, name: str | None = None) -> Deployed:
            project = Project.copy_of(tmp_path_factory.mktemp("project"), shipped, name or shipped)
            return opened.enter_context(Deployed(toolchain, cloud, project))

        yield open_stack

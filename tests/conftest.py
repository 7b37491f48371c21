"""What every tier shares: the network is closed to tests that are not marked for more."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from pytest_socket import disable_socket, enable_socket

NETWORKED = ("engine", "node", "gpu", "aws")

# Two runs of one tree give one verdict; tests/campaigns/properties.py looks where no run has looked yet.
settings.register_profile("steady", derandomize=True)
settings.register_profile("search", derandomize=False, database=None, print_blob=True)
settings.load_profile("steady")

# str() of a Pulumi Output raises instead of deploying a warning text.
os.environ["PULUMI_ERROR_OUTPUT_STRING"] = "1"
# A test must never find the credentials of the person who runs it.
for name in [key for key in os.environ if key.startswith("AWS_") and key != "AWS_CA_BUNDLE"]:
    del os.environ[name]
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"


@pytest.fixture
def heeded() -> Iterator[None]:
    """Signals that a shell's background job or nohup ignores are heeded, whoever runs the tests."""
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if any(item.get_closest_marker(mark) for mark in NETWORKED):
        enable_socket()
    else:
        disable_socket(allow_unix_socket=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for mark, needs, present in (
            ("gpu", "a CUDA device", _has_gpu),
            ("aws", "an AWS account", _has_account),
        ):
            if item.get_closest_marker(mark) and not present():
                item.add_marker(
                    pytest.mark.skip(reason=f"needs {needs}: run with -m {mark} where there is one")
                )


def _has_gpu() -> bool:
    return Path("/dev/nvidia0").exists()


def _has_account() -> bool:
    return os.environ.get("NIGHTSHIFT_TEST_AWS") == "1"

"""Nodes for the tests marked `node`, and a plain word where they can't be had."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pulumi_aws
import pytest

from nightshift.emulator.cloud import Cloud, start_cloud
from nightshift.emulator.sandbox.network import Network, reason_to_skip

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    FIRST_USED = (pulumi_aws.s3.Bucket, pulumi_aws.ec2.Vpc, pulumi_aws.iam.Role)
"""pulumi_aws warns of its own old names while a module of it is first used."""
HERE = Path(__file__).parent


@pytest.fixture
def net() -> Iterator[Network]:
    """An empty network."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    with Network() as made:
        yield made


@pytest.fixture(scope="session")
def cloud() -> Iterator[Cloud]:
    """The emulated AWS, for nodes that call it."""
    with start_cloud() as running:
        yield running


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker for all: they share what the kernel has only once."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("node"):
            item.add_marker(pytest.mark.xdist_group("storage"))

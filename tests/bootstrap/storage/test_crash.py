"""A crash drops what wasn't synced: what was reported committed is there, whatever else is gone."""

from __future__ import annotations

import pytest

from tests.bootstrap.storage.support.bench import Bench, Filesystem, bench
from tests.bootstrap.storage.support.crash import How, boot_again, clear, crash, lost, reflink_host
from tests.bootstrap.storage.support.machine import reason_to_skip

pytestmark = pytest.mark.node
BOTH: tuple[Filesystem, ...] = ("xfs", "ext4")
HOWS: tuple[How, ...] = ("shutdown", "frozen")


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("filesystem", BOTH)
def test_what_was_committed_survives_a_crash_and_the_crash_is_one(filesystem: Filesystem, how: How) -> None:
    """The careless writer, without fsync, loses in the same crash: else this would prove nothing."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    with reflink_host() as host, bench(where=host) as node:
        assert node.attach(filesystem).ready
        for after in (0.0, 0.1):
            last = crash(node, how, after)
            boot_again(node, filesystem, how)
            assert lost(node, last) == []
            clear(node)
        assert any(careless_loses(node, filesystem, how) for _ in range(8))


def careless_loses(node: Bench, filesystem: Filesystem, how: How) -> bool:
    """Nearly always; now and then the kernel has written all by itself."""
    last = crash(node, how, 0.05, careful=False)
    boot_again(node, filesystem, how)
    missing = lost(node, last)
    clear(node)
    return bool(missing)

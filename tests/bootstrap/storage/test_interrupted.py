"""A node that dies while it formats: the next one knows the volume as ours, and never guesses."""

from __future__ import annotations

import os

import pytest

from bootstrap.storage.examine import Mark, mark_bytes, mark_offset
from nightshift.emulator.sandbox.devices import GIB, sh
from tests.bootstrap.storage.support.bench import Bench, Filesystem
from tests.bootstrap.storage.support.cut import Witness, attach_until_death, next_node

pytestmark = pytest.mark.node
BOTH: tuple[Filesystem, ...] = ("xfs", "ext4")


@pytest.mark.parametrize("filesystem", BOTH)
@pytest.mark.parametrize("power", [False, True], ids=["killed", "power"])
@pytest.mark.parametrize("after", [0.0, 0.004, 0.015])
def test_a_mkfs_cut_short_is_wiped_and_done_again(
    node: Bench, filesystem: Filesystem, power: bool, after: float
) -> None:
    witness = Witness(node.disk, die_after=after)
    assert attach_until_death(node, filesystem, witness, at_write=None)
    report = next_node(node, filesystem, witness, power=power)
    assert report.ready, report.problems
    assert report.volumes[0].was in ("unfinished", "blank")
    assert witness.overwrote == []
    assert node.attach(filesystem).volumes[0].was == "mounted"


@pytest.mark.parametrize("filesystem", BOTH)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_death_between_the_steps_of_a_format_is_made_good(
    node: Bench, filesystem: Filesystem, number: int
) -> None:
    """Before the mark is written, before the flush, before the mark is taken away."""
    witness = Witness(node.disk)
    assert attach_until_death(node, filesystem, witness, at_write=number)
    report = next_node(node, filesystem, witness, power=False)
    assert report.ready, report.problems
    assert report.volumes[0].was == ("blank" if number == 1 else "unfinished")
    assert witness.overwrote == []


def test_a_death_in_the_wipe_leaves_the_mark_for_the_next(node: Bench) -> None:
    witness = Witness(node.disk)
    assert attach_until_death(node, "xfs", witness, at_write=3)
    for number in (1, 2):
        assert attach_until_death(node, "xfs", witness, at_write=number)
    assert next_node(node, "xfs", witness, power=False).ready
    assert witness.overwrote == []


def test_a_mark_beside_data_that_is_not_ours_protects_nothing(node: Bench) -> None:
    """Our mark, yet another filesystem in front of it: refused, whoever put it there."""
    sh("mkfs.ext4", "-q", node.disk.loop)
    node.disk.write(
        mark_offset(GIB), mark_bytes(Mark("vol0abc", "ext4", "00000000-0000-4000-8000-000000000000"))
    )
    before = node.disk.content()
    report = node.attach("ext4")
    assert "another UUID" in report.problems[0].found
    assert node.disk.content() == before


def test_a_mark_of_another_volume_is_a_copy_and_refused(node: Bench) -> None:
    node.disk.write(mark_offset(GIB), mark_bytes(Mark("vol0def", "xfs", "x")))
    report = node.attach("xfs")
    assert "cut short, copied to this volume" in report.problems[0].found


def test_a_mkfs_of_others_cut_short_is_never_repeated(node: Bench) -> None:
    """No mark: what's there may be anybody's."""
    node.disk.write(64 << 20, os.urandom(4096))
    node.disk.write(256 << 20, os.urandom(1 << 20))
    before = node.disk.content()
    report = node.attach("xfs")
    assert "unknown" in report.problems[0].found
    assert "retire" in report.problems[0].remedy
    assert node.disk.content() == before

"""What may be formatted, decided from observations alone: blank in fact and made blank by us, or nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.storage.examine import (
    MARK_SIZE,
    MIB,
    REMEDIES,
    Mark,
    Observation,
    examine,
    mark_bytes,
    may_format,
    read_mark,
)
from bootstrap.storage.observe import EDGE, PROBE, pairs, probe_offsets

GIB = 1 << 30
BLANK = Observation(GIB, GIB, 2, probed=16 * MIB)
SERIAL = "vol0abc"
MARKS = st.builds(
    Mark, st.sampled_from([SERIAL, "vol0def"]), st.sampled_from(["xfs", "ext4"]), st.text(max_size=40)
)
OBSERVATIONS = st.builds(
    Observation,
    size=st.sampled_from([0, 1, GIB, 2 * GIB]),
    expected=st.sampled_from([GIB, 2 * GIB]),
    blkid_code=st.sampled_from([0, 2, 4, 8, 124, 127]),
    blkid=st.dictionaries(
        st.sampled_from(["TYPE", "USAGE", "PTTYPE", "UUID", "LABEL", "AMBIVALENT"]),
        st.sampled_from(["xfs", "ext4", "gpt", "filesystem", "raid", "crypto_LUKS", ""]),
    ),
    blkid_words=st.sampled_from(["", "error: /dev/x: Input/output error"]),
    dirty_at=st.none() | st.integers(0, GIB),
    probed=st.sampled_from([0, MIB, 8 * MIB, 16 * MIB]),
    mark=st.none() | MARKS,
    error=st.sampled_from(["", "/dev/x: Input/output error"]),
)


@given(OBSERVATIONS, st.sampled_from(["xfs", "ext4"]), st.booleans())
def test_only_what_is_proven_blank_and_declared_blank_may_be_formatted(
    seen: Observation, filesystem: str, declared: bool
) -> None:
    verdict = examine(seen, filesystem, SERIAL)
    proven = (
        seen.size == seen.expected
        and seen.blkid_code == 2
        and not (seen.blkid or seen.blkid_words or seen.error)
        and seen.dirty_at is None
        and seen.mark is None
        and seen.probed >= 8 * MIB
    )
    assert may_format(verdict, declared) == (proven and declared)
    assert verdict.says
    assert verdict.kind == "formatted" or REMEDIES[verdict.kind]


@given(OBSERVATIONS, st.sampled_from(["xfs", "ext4"]))
def test_only_a_lone_filesystem_of_the_declared_kind_is_mounted(seen: Observation, filesystem: str) -> None:
    if examine(seen, filesystem, SERIAL).kind == "formatted":
        assert seen.blkid_code == 0
        assert seen.blkid["TYPE"] == filesystem
        assert "PTTYPE" not in seen.blkid
        assert seen.mark is None
        assert not seen.error


@given(OBSERVATIONS, st.sampled_from(["xfs", "ext4"]))
def test_only_our_own_mark_of_this_very_volume_allows_a_wipe(seen: Observation, filesystem: str) -> None:
    if examine(seen, filesystem, SERIAL).kind == "unfinished":
        assert seen.mark is not None
        assert seen.mark.serial == SERIAL
        assert seen.blkid.get("TYPE", "") in ("", seen.mark.filesystem)
        assert seen.blkid.get("UUID", "").lower() in ("", seen.mark.uuid.lower())


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({}, "blank"),
        ({"blkid_code": 0, "blkid": {"TYPE": "xfs", "USAGE": "filesystem"}}, "formatted"),
        ({"blkid_code": 0, "blkid": {"TYPE": "ext4", "USAGE": "filesystem"}}, "foreign"),
        ({"blkid_code": 0, "blkid": {"TYPE": "LVM2_member", "USAGE": "raid"}}, "foreign"),
        ({"blkid_code": 0, "blkid": {"PTTYPE": "gpt"}}, "partitioned"),
        ({"blkid_code": 0, "blkid": {"PTTYPE": "dos", "TYPE": "xfs"}}, "partitioned"),
        ({"blkid_code": 8}, "foreign"),
        ({"blkid_code": 4}, "unreadable"),
        ({"blkid_words": "I/O error"}, "unreadable"),
        ({"dirty_at": 512}, "unknown"),
        ({"size": 2 * GIB}, "unreadable"),
        ({"size": 0}, "unreadable"),
        ({"probed": MIB}, "unreadable"),
        ({"error": "Input/output error"}, "unreadable"),
        ({"mark": Mark(SERIAL, "xfs", "1")}, "unfinished"),
        ({"mark": Mark("vol0def", "xfs", "1")}, "foreign"),
    ],
)
def test_a_device_is_what_it_is(change: dict[str, object], kind: str) -> None:
    assert examine(replace(BLANK, **change), "xfs", SERIAL).kind == kind


@given(MARKS)
def test_a_mark_reads_back(mark: Mark) -> None:
    block = mark_bytes(mark)
    assert len(block) == MARK_SIZE
    assert read_mark(block) == mark


@given(st.binary(max_size=200))
def test_no_other_bytes_read_as_a_mark(data: bytes) -> None:
    assert read_mark(data) is None
    whole = mark_bytes(Mark(SERIAL, "xfs", "1"))
    assert read_mark(whole[:60] + data) in (None, Mark(SERIAL, "xfs", "1"))


@given(st.integers(GIB, 64 << 40).map(lambda size: size // 4096 * 4096))
def test_probes_lie_between_the_edges_and_never_far_apart(size: int) -> None:
    offsets = probe_offsets(size)
    assert all(EDGE <= each <= size - EDGE - PROBE for each in offsets)
    ends = [EDGE, *offsets, size - EDGE]
    assert max(later - sooner for sooner, later in pairwise(ends)) <= size // 1000 + EDGE
    assert len(offsets) < 1100


def test_blkids_pairs_are_read_without_the_name_of_the_device() -> None:
    assert pairs("DEVNAME=/dev/nvme1n1\nTYPE=xfs\nLABEL=a=b\n\n") == {"TYPE": "xfs", "LABEL": "a=b"}

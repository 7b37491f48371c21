"""Readers of what kernel and tools print: mount tables, maps, superblocks, serials."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.commands import MISSING, TIMED_OUT, run
from bootstrap.storage.devices import EBS_MODEL, Seen, choose, same_serial
from bootstrap.storage.growing import parse_xfs_size
from bootstrap.storage.holders import mapped
from bootstrap.storage.making import mkfs_command
from bootstrap.storage.mounts import Mount, parse_mounts, standing
from bootstrap.storage.release import mounts_of
from bootstrap.storage.superblock import SLACK, Span, growth, span

GIB, MIB = 1 << 30, 1 << 20
LINE = "36 35 259:1 / /data/my\\040runs rw,noatime shared:7 - xfs /dev/nvme1n1 rw,attr2"


def seen(name: str, serial: str = "vol0abc", model: str = EBS_MODEL) -> Seen:
    return Seen(name, f"{serial:<20}\n", f"{model:<40}\n", "259:1")


def test_a_line_of_mountinfo_is_read_with_its_escapes() -> None:
    (mount,) = parse_mounts(LINE + "\nnot a line\n")
    assert mount == Mount("259:1", "/", "/data/my runs", "rw,noatime", "xfs")


def test_only_the_topmost_mount_at_a_point_is_what_one_sees() -> None:
    ours, other = Mount("259:1", "/", "/data/runs", "", "xfs"), Mount("0:40", "/", "/data/runs", "", "tmpfs")
    assert not standing((), "259:1", "/data/runs")
    assert standing((other, ours), "259:1", "/data/runs")
    with pytest.raises(ValueError, match="tmpfs 0:40"):
        standing((ours, other), "259:1", "/data/runs")
    with pytest.raises(ValueError, match="259:1"):
        standing((Mount("259:1", "/sub", "/data/runs", "", "xfs"),), "259:1", "/data/runs")


def test_what_lies_upon_a_volume_is_unmounted_before_it_and_nothing_else() -> None:
    def at(number: str, point: str) -> Mount:
        return Mount(number, "/", point, "", "x")

    table = (
        at("8:1", "/"),
        at("259:1", "/data/runs"),
        at("259:2", "/data/runs2"),
        at("0:40", "/data/runs/a"),
    )
    assert [each.point for each in mounts_of(table, "259:1")] == ["/data/runs/a", "/data/runs"]


def test_the_devices_of_mapped_files_are_hexadecimal() -> None:
    maps = "7f00-7f10 r--p 00000000 103:0a 131 /data/x\n7f20-7f30 rw-p 00000000 00:00 0 [heap]\n"
    assert mapped(maps) == {"259:10"}


@pytest.mark.parametrize(
    ("devices", "link", "name", "words"),
    [
        ([], None, None, ""),
        ([seen("nvme1n1")], None, "nvme1n1", ""),
        ([seen("nvme1n1", "vol-0ABC")], "nvme1n1", "nvme1n1", ""),
        ([seen("nvme0n1", "vol0root")], None, None, ""),
        ([seen("nvme1n1"), seen("nvme2n1")], None, None, "all say serial"),
        ([seen("nvme1n1", "vol0def")], "nvme1n1", None, "whose serial is"),
        ([seen("nvme1n1", "")], "nvme1n1", None, "not told"),
        ([seen("nvme1n1", model="Amazon EC2 NVMe Instance Storage")], None, None, "Instance Storage"),
        ([seen("nvme1n1", model="")], None, None, "not told"),
    ],
)
def test_a_device_is_chosen_by_serial_and_model_alone(
    devices: list[Seen], link: str | None, name: str | None, words: str
) -> None:
    found, problem = choose(devices, link, "vol0abc")
    assert (found.name if found else None) == name
    assert words in problem
    assert bool(problem) == bool(words)


@given(st.text("0123456789abcdef", min_size=1), st.text("0123456789abcdef", min_size=1))
def test_serials_are_the_same_only_in_full(one: str, other: str) -> None:
    assert same_serial(f"vol{one}   \n", f"vol{other}") == (one == other)
    assert not same_serial("   ", f"vol{one}")


@given(st.integers(1, 1 << 40))
def test_sizes_of_filesystems_are_read_from_their_superblocks(blocks: int) -> None:
    assert span(b"XFSB" + struct.pack(">IQ", 4096, blocks), "xfs") == Span(4096, blocks)
    head = bytearray(4096)
    head[1024 + 56 : 1024 + 58] = b"\x53\xef"
    struct.pack_into("<I", head, 1024 + 4, blocks & 0xFFFFFFFF)
    struct.pack_into("<I", head, 1024 + 24, 2)
    struct.pack_into("<I", head, 1024 + 0x60, 0x80)
    struct.pack_into("<I", head, 1024 + 0x150, blocks >> 32)
    assert span(bytes(head), "ext4") == Span(4096, blocks)


@given(st.binary(max_size=4096), st.sampled_from(["xfs", "ext4"]))
def test_no_bytes_break_the_reader_of_superblocks(head: bytes, filesystem: str) -> None:
    told = span(head, filesystem)
    assert told is None or told.block >= 0


@given(st.integers(1, 64 << 20), st.integers(1, 1 << 38))
def test_a_filesystem_grows_only_by_more_than_rounding_and_never_into_the_reserve(
    blocks: int, device: int
) -> None:
    now = Span(4096, blocks)
    target = growth(now, device)
    if target is None:
        assert now.size + SLACK > device - MIB
    else:
        assert now.size < target.size <= device - MIB
        assert growth(target, device) is None


def test_the_size_of_a_mounted_xfs_is_read_from_its_own_tool() -> None:
    text = "meta-data=/dev/x isize=512\n =  crc=1\ndata     =    bsize=4096   blocks=261888, imaxpct=25\n"
    assert parse_xfs_size(text) == Span(4096, 261888)
    assert parse_xfs_size("xfs_growfs: /x is not a mounted XFS filesystem") is None


def test_mkfs_is_never_forced_and_leaves_the_reserve() -> None:
    for filesystem in ("xfs", "ext4"):
        command = mkfs_command("/dev/nvme1n1", filesystem, GIB, "a-very-long-volume-name", "id")
        assert not {"-f", "-F", "--force"} & set(command)
        assert "a-very-long-" in command
    assert f"size={GIB - MIB}" in mkfs_command("/dev/x", "xfs", GIB, "runs", "id")
    assert f"{(GIB - MIB) // 1024}k" in mkfs_command("/dev/x", "ext4", GIB, "runs", "id")


@pytest.mark.node
def test_a_command_ends_by_itself_by_its_deadline_or_was_never_there() -> None:
    assert run(["sh", "-c", "echo out; echo err >&2; exit 3"], 5).words == "exit code 3: err"
    late = run(["sleep", "30"], 0.2)
    assert (late.code, late.seconds < 5) == (TIMED_OUT, True)
    assert run(["no-such-command-here"], 5).code == MISSING
